#!/usr/bin/env bash
# Installs what building and testing need and is not here yet: Debian packages and Go modules.
# npm packages are installed by the tests that use them. With the argument "browser" also what the console is tried and
# drawn with.
set -euo pipefail
cd "$(dirname "$0")/.."

need=()
have() { command -v "$1" >/dev/null 2>&1; }
have git || need+=(git)
have patch || need+=(patch)
have setfattr || need+=(attr)
have setfacl || need+=(acl)
have node || need+=(nodejs)
have npm || need+=(npm)
have soffice || need+=(libreoffice-calc-nogui libreoffice-writer-nogui libreoffice-impress-nogui) # the judge of workbooks, documents and decks
have pdftotext || need+=(poppler-utils)
# programs that serve as engines for media, with what their tests listen to and read
have tesseract || need+=(tesseract-ocr tesseract-ocr-eng)
have ffmpeg || need+=(ffmpeg)
have pocketsphinx_continuous || need+=(pocketsphinx pocketsphinx-en-us)
[ -e /usr/share/pocketsphinx/test/data/librivox ] || need+=(pocketsphinx-testdata)
have vips || need+=(libvips-tools)
have qpdf || need+=(qpdf)
have exiftool || need+=(libimage-exiftool-perl) # reads what stands beside the content of redacted files
[ -e /usr/share/doc/debian-policy/policy.pdf.gz ] || need+=(debian-policy) # one text in four formats
have pandoc || need+=(pandoc)
[ -e /usr/lib/python3/dist-packages/uno.py ] || need+=(python3-uno) # keeps LibreOffice running between files
have gcc || need+=(gcc libc6-dev) # the race detector links with it
if [ "${1:-}" = browser ]; then
  have chromium || need+=(chromium)
  have pngquant || need+=(pngquant)
  have fc-list || need+=(fontconfig)
  [[ "$(fc-list 2>/dev/null)" == *Inter* ]] || need+=(fonts-inter)
  [[ "$(fc-list 2>/dev/null)" == *JetBrains* ]] || need+=(fonts-jetbrains-mono)
fi

if [ ${#need[@]} -gt 0 ]; then
  if ! have apt-get; then
    echo "deps: please install ${need[*]} with this system's package manager, then run again" >&2
    exit 1
  fi
  sudo=; [ "$(id -u)" = 0 ] || sudo=sudo
  echo "deps: installing ${need[*]}" >&2
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${need[@]}" >/dev/null
fi

if ! have go; then
  echo "deps: Go is missing; install the version that go.mod names from https://go.dev/dl/" >&2
  exit 1
fi
go mod download
