#!/usr/bin/env bash
# What the browser tests need besides Python packages: Debian's Chromium, and axe-core in the folder that is given.
set -euo pipefail
folder=$1
axe=axe-core@4.14.0

if ! command -v chromium >/dev/null; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium >/dev/null
  else
    echo "The browser tests need Chromium at /usr/bin/chromium. Install it with: sudo apt-get install chromium" >&2
    exit 1
  fi
fi
if ! command -v npm >/dev/null; then
  echo "The browser tests need npm, to get $axe. Install it with: sudo apt-get install npm" >&2
  exit 1
fi
mkdir -p "$folder"
packed=$(cd "$folder" && npm pack --silent "$axe")
tar -xzf "$folder/$packed" -C "$folder" --strip-components=1 package/axe.min.js
rm "$folder/$packed"
