{{- define "narthex.name" -}}
{{- printf "%s-%s" .root.Release.Name .part | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "narthex.selector" -}}
app.kubernetes.io/name: narthex
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{- define "narthex.labels" -}}
{{ include "narthex.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end -}}

{{- define "narthex.image" -}}
{{ required "Set image.repository: the registry to which you pushed the image." .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "narthex.domain" -}}
{{ required "Set domain: the platform serves api.<domain> and console.<domain>." .Values.domain }}
{{- end -}}

{{- define "narthex.internalUrl" -}}
{{- if .Values.api.enabled -}}
http://{{ include "narthex.name" (dict "root" . "part" "api") }}:4400
{{- else -}}
{{ required "Set api.internalUrl: the address of the API of another region." .Values.api.internalUrl }}
{{- end -}}
{{- end -}}

{{/* Variables of every program. Pitfall: `toString`, which writes 1000000 as 1e+06. */}}
{{- define "narthex.addresses" -}}
- name: NARTHEX_API_URL
  value: https://api.{{ include "narthex.domain" . }}
- name: NARTHEX_API_INTERNAL_URL
  value: {{ include "narthex.internalUrl" . }}
- name: NARTHEX_PROXY_DOMAIN
  value: db.{{ include "narthex.domain" . }}
- name: NARTHEX_REGION
  value: {{ .Values.region }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ ternary $value (toJson $value) (kindIs "string" $value) | quote }}
{{- end }}
{{- end -}}

{{/* Variables of narthex-server. */}}
{{- define "narthex.settings" -}}
{{ include "narthex.addresses" . }}
- name: NARTHEX_CONSOLE_URL
  value: https://console.{{ include "narthex.domain" . }}
- name: NARTHEX_REGIONS
  value: {{ .Values.region }}
- name: NARTHEX_TRUSTED_HOPS
  value: "1"
- name: NARTHEX_COMPUTE
  value: {{ .Values.computes.driver }}
{{- if eq .Values.computes.driver "kubernetes" }}
{{- $_ := required "Set computes.options.storage_class: the storage class of databases." .Values.computes.options.storage_class }}
{{- $_ := required "Set computes.options.snapshot_class: the snapshot class of that storage." .Values.computes.options.snapshot_class }}
- name: NARTHEX_KUBERNETES
  value: {{ toJson .Values.computes.options | quote }}
{{- end }}
{{- range $variable, $file := dict "DATABASE_URL" "database_url" "NARTHEX_MASTER_SECRET" "master" "NARTHEX_CONSOLE_TOKEN" "console" "NARTHEX_PROXY_TOKEN" "proxy" "NARTHEX_PROVIDERS" "providers" }}
- name: {{ $variable }}_FILE
  value: /run/secrets/narthex/{{ $file }}
{{- end }}
{{- end -}}

{{/* What every pod has in common: accounts, rights, spread, directories that can be written. */}}
{{- define "narthex.pod" -}}
# Kubernetes would set NARTHEX_…_PORT for each service, which are settings of the programs.
enableServiceLinks: false
terminationGracePeriodSeconds: 100
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ include "narthex.selector" . | fromYaml | toJson }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- end -}}

{{- define "narthex.container" -}}
image: {{ include "narthex.image" .root }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{- define "narthex.probes" -}}
startupProbe:
  httpGet: { path: /health, port: admin }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /health, port: admin }
  timeoutSeconds: 5
readinessProbe:
  httpGet: { path: /ready, port: admin }
  periodSeconds: 5
  timeoutSeconds: 5
# Services forget a pod some seconds after it began to stop.
lifecycle:
  preStop: { sleep: { seconds: 5 } }
{{- end -}}

{{/* A Deployment of narthex-server with the role `part`. */}}
{{- define "narthex.server" -}}
{{- $values := index .root.Values .part -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "narthex.name" . | quote }}
  labels: {{ include "narthex.labels" . | nindent 4 }}
spec:
  replicas: {{ $values.replicas }}
  selector:
    matchLabels: {{ include "narthex.selector" . | nindent 6 }}
  template:
    metadata:
      labels: {{ include "narthex.labels" . | nindent 8 }}
    spec:
      {{- include "narthex.pod" . | nindent 6 }}
      {{- if and (eq .part "runner") (eq .root.Values.computes.driver "kubernetes") }}
      serviceAccountName: {{ include "narthex.name" . }}
      {{- else }}
      automountServiceAccountToken: false
      {{- end }}
      containers:
        - name: {{ .part }}
          {{- include "narthex.container" . | nindent 10 }}
          command: [narthex-server, --roles, {{ .part }}]
          env: {{ include "narthex.settings" .root | nindent 12 }}
          ports:
            {{- if ne .part "runner" }}
            - { name: http, containerPort: {{ .port }} }
            {{- end }}
            - { name: admin, containerPort: 4409 }
          {{- include "narthex.probes" . | nindent 10 }}
          resources: {{ toJson $values.resources }}
          volumeMounts:
            - { name: secrets, mountPath: /run/secrets/narthex, readOnly: true }
            - { name: data, mountPath: /var/lib/narthex }
            - { name: tmp, mountPath: /tmp }
      volumes:
        - name: secrets
          secret: { secretName: {{ .root.Values.secret }}, defaultMode: 288 } # 0440
        - { name: data, emptyDir: {} }
        - { name: tmp, emptyDir: {} }
{{- end -}}

{{- define "narthex.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "narthex.name" . | quote }}
  labels: {{ include "narthex.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{ include "narthex.selector" . | nindent 6 }}
{{- end -}}

{{- define "narthex.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "narthex.name" . | quote }}
  labels: {{ include "narthex.labels" . | nindent 4 }}
spec:
  selector: {{ include "narthex.selector" . | nindent 4 }}
  ports:
    - { name: http, port: {{ .port }}, targetPort: http }
{{- end -}}
