#!/bin/sh
# The library as it is installed: what it shows, a program in C, and Python.
set -u
. "$(dirname "$0")/common.sh"
# A device that is asked for stands in place of that of library.cfg.
device=$(echo "$device" | sed 's/ }$/ precision = "double"; }/')
root=$PWD
export XDG_CACHE_HOME="${XDG_CACHE_HOME:-$scratch}"

made() { # TARGET, or more of make
    make --no-print-directory -s -C "$root" B="${HTWAVE_BUILD:-build}" DEPS=: DESTDIR="$scratch" \
        PREFIX=/usr "$@" >"$scratch/said.txt" 2>&1 || cat "$scratch/said.txt"
}
made install
cd "$scratch" || exit 1
library=$scratch/usr/lib/libhtwave.so

judge 'installed: library, header, pkg-config, examples' [ -e "$library" -a \
    -e usr/include/htwave/api.h -a -e usr/lib/pkgconfig/htwave.pc -a \
    -e usr/share/htwave/examples/api.c ]
judge 'the manual has each command and key' [ "$(grep -c '^\.SH HTWAVE [A-Z]' usr/share/man/man1/htwave.1)" = \
    "$("$htwave" --help | grep -c '^  htwave [a-z].* [a-z]')" -a "$(grep -c '^  grid\.' usr/share/man/man1/htwave.1)" -gt 3 ]
judge "scripts are commands: $(usr/bin/htwave-plot --help 2>&1 | head -n 1)" [ -x usr/bin/htwave-plot ]
completed=$(bash -c 'compopt() { :; }; . usr/share/bash-completion/completions/htwave
    COMP_WORDS=("$0" check a.cfg grid.ce) COMP_CWORD=3
    _htwave; echo "${COMPREPLY[@]}"; COMP_WORDS=("$0" check --) COMP_CWORD=2; _htwave; echo "${COMPREPLY[@]}"
    COMP_WORDS=("$0" describe el) COMP_CWORD=2; _htwave; echo "${COMPREPLY[@]}"' \
    "$htwave" | tr '\n' ' ')
judge "completion: $completed" [ "$completed" = \
    'grid.cells= --model --error --wavelengths --machine --json --quiet --verbose --help elastic ' ]
nm -D --defined-only "$library" | awk '$2 ~ /[TDBRVW]/ { print $3 }' |
    grep -v '^ht_api_\|^_\|^__' >shown.txt
judge "it shows functions of api.h alone$(sed 's/^/ /' shown.txt)" [ ! -s shown.txt ]
judge 'its soname has a number' sh -c "objdump -p '$library' | grep -q 'SONAME.*libhtwave.so.0$'"

# As debian/rules installs: each pattern of the packages is there, and no file is in none of them.
if [ -e /usr/share/dpkg/architecture.mk ]; then
    made -fdebian/rules CURDIR="$scratch/package" override_dh_auto_install
    # shellcheck disable=SC2086 # patterns
    (cd package/debian/tmp && find usr ! -type d | sort >"$scratch/all.txt" &&
        cat "$root"/debian/*.install | while read -r pattern; do find $pattern ! -type d; done |
        sort >"$scratch/packed.txt") 2>lacks.txt
    comm -3 all.txt packed.txt >>lacks.txt
    judge "Debian's packages have all $(wc -l <all.txt) files once: $(cat lacks.txt)" \
        [ -s all.txt -a ! -s lacks.txt ]
else
    skip 'packages: no dpkg-dev is here'
fi

# What the example prints are the largest values of the traces of such runs.
export PKG_CONFIG_PATH="$scratch/usr/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$scratch"
# shellcheck disable=SC2046 # flags are words
judge 'the example in C is built by pkg-config' \
    "${CC:-cc}" -Wall -Wextra usr/share/htwave/examples/api.c -o api \
    -I"$scratch/usr/include" -L"$scratch/usr/lib" $(pkg-config --libs-only-l htwave) -lm
LD_LIBRARY_PATH="$scratch/usr/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ./api "$device" >api.txt 2>message.txt
judge "it runs: $(tr '\n' ' ' <api.txt)$(cat message.txt)" [ $? = 0 -a ! -s message.txt ]
"$htwave" run "$root/test/config/library.cfg" "$device" --quiet 'output.traces=["csv"]' \
    output.directory=out 2>message.txt || cat message.txt
awk -F, '/^[-0-9]/ { for (i = 2; i <= NF; i++) { x = $i < 0 ? -$i : $i
    if (x > most[i]) most[i] = x } n = NF }
    END { printf "uniform:"; for (i = 2; i <= n; i++) printf " %.6f", most[i]; print "" }' \
    out/traces_*.csv >run.txt
head -n 1 api.txt | cmp -s - run.txt
judge "as htwave run does: $(cat run.txt)" [ $? = 0 ]
LD_LIBRARY_PATH="$scratch/usr/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ./api grid.cells=7 2>message.txt >api.txt
judge "it says what is wrong: $(cat message.txt)" grep -q '^api: grid.upper' message.txt

if have_modules numpy; then
    export HTWAVE_LIBRARY="$library.0" PYTHONPATH="$root/python" PYTHONDONTWRITEBYTECODE=1
    for test in "$root"/test/python/*.py; do
        python3 "$test" "$htwave" "$device" >python.txt 2>&1
        relay python.txt
    done
    MPLCONFIGDIR="$scratch" python3 "$root/examples/disc.py" "$device" >found.txt 2>message.txt
    sed -n 's/^    \([a-z]*: [0-9].*\)/\1/p' "$root/examples/disc.py" | cmp -s - found.txt
    judge "the example in Python prints what it says: $(tr '\n' ' ' <found.txt)" [ $? = 0 ]
else
    skip 'Python: no python3 with numpy is here'
fi

made uninstall
judge "uninstall leaves nothing$(find usr ! -type d 2>/dev/null | head -n 3 | sed 's/^/ /')" [ ! -e usr ]

end config/library
