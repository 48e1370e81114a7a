# needs: ! test -e /dev/nvidiactl && python3 -c 'import sqlite3'
# The Makefile needs no device to compile for: it takes the architecture from the newest results of one, or another. What is
# no architecture stays out of it: results come from elsewhere too.
acceleval show black_scholes --stub >black_scholes.cu
rule() {
    acceleval repro black_scholes.cu >/dev/null 2>errors
    make -s -C black_scholes-repro -n "$@" | sed 's/-I.*common/-ICOMMON/'
}
record() {
    python3 - "$1" <<'END'
import sqlite3, sys, os
store = sqlite3.connect(os.environ["XDG_DATA_HOME"] + "/acceleval/results.db")
store.execute("UPDATE environments SET json = json_set(json, '$.arch', ?)", sys.argv[1:])
store.commit()
END
}
rule
acceleval eval "$PROGRAMS/right.c" --task black_scholes --quick --seed 1 >/dev/null 2>errors
rule
record sm_100a
rule
rule ARCH=sm_80
record 'sm_90; touch seen'
rule
