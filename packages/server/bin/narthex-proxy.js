#!/usr/bin/env node
import "../dist/proxyServer.js"
