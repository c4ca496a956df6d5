# What the scripts beside it share; read with ".", so it is no program. Beside
# what test/config/common.sh and launcher.sh set: build; device, which is any
# that is here, since the serial reference knows no ranks.

. "${0%/*}/../config/common.sh"
. "${0%/*}/launcher.sh"
build=${HTWAVE_BUILD:-build}
device=$(device_option "${HTWAVE_DEVICE:-auto}")

now() { # seconds
    date +%s.%N
}
since() { # BEGIN, as now prints it
    awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'
}
