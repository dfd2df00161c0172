#!/usr/bin/env node
import "../dist/narthex-server.js"
