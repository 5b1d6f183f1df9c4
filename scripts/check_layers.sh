#!/usr/bin/env bash
# Checks the direction of includes: a directory may include from those listed beside it and from no other, always by the
# path from common/ or from the top. Link targets enforce the same for functions; this sees headers too.
set -euo pipefail
cd "$(dirname "$0")/.."

declare -A allowed=(
  [common/base]="base"
  [common/os]="base os"
  [common/model]="base model"
  [common/queue]="base os model queue"
  [common/device]="base os device"
  [coordinator]="base os model queue device coordinator"
  [worker]="base os model queue device worker"
)
bad=0
for directory in "${!allowed[@]}"; do
  [ -d "$directory" ] || continue
  while IFS=: read -r file line text; do
    included=${text#*\"} layer=${included%%/*}
    case " ${allowed[$directory]} " in
      *" $layer "*) ;;
      *) echo "$file:$line: includes \"${included%%\"*}\"; $directory may include from: ${allowed[$directory]}"; bad=1 ;;
    esac
  done < <(grep -rnE --include='*.h' --include='*.cc' '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$directory" || true)
done
for directory in common/*/; do
  [ -n "${allowed[${directory%/}]+set}" ] || { echo "${directory%/}: a layer that scripts/check_layers.sh does not know"; bad=1; }
done
exit $bad
