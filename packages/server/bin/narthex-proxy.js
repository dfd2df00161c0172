#!/usr/bin/env node
import "../dist/narthex-proxy.js"
