# Runs that are killed; read with ".", after config/common.sh, in a folder with base.cfg.

# killed COUNT LAUNCHER KEY=VALUE...: so many runs of base.cfg, killed between their first checkpoint
# and their end, go on to the same files; `whole` is a run that was not
killed() {
    most=$1 launch=$2
    shift 2
    rm -rf whole
    $launch "$htwave" run base.cfg --quiet output.directory=whole "$@" || fail "a run"
    equal=0 went=0
    for n in $(seq $((4 * most))); do
        [ $went -lt "$most" ] || break # some end before they are killed
        rm -rf part
        $launch "$htwave" run base.cfg --quiet output.directory=part "$@" >said 2>&1 &
        # from the first checkpoint on
        for _ in $(seq 1000); do [ ! -e part/checkpoint.h5 ] || break; sleep 0.01; done
        # the first at once: where the machine is fast the others may come too late
        [ "$n" = 1 ] || sleep "0.$(printf %02d $((n * 37 % 60)))"
        # the process that holds the lock; other ranks end with it
        kill -9 "$(sed -n 's/^process \([0-9]*\) .*/\1/p' part/.htwave.lock)" 2>/dev/null
        wait $! 2>/dev/null
        [ ! -e part/summary.json ] || continue
        went=$((went + 1))
        $launch "$htwave" continue part --quiet >said 2>&1 || cat said
        wrong=$(differ whole part)
        [ -z "$wrong" ] && equal=$((equal + 1)) || echo "# differ: $wrong"
    done
    judge "$equal of $went runs${launch:+ of $launch} that were killed end as one that was not" \
        [ $equal = $went -a $went -gt 0 ]
}
