# needs: ! test -e /dev/nvidiactl
# One meaning each, whatever the command: nothing here to judge by or with (3), judged and not passed (1), not meant (2).
say() {
    status=0
    "$@" >printed 2>errors || status=$?
    echo "$status: $(echo "$*" | sed "s|$TASKS|TASKS|g; s|$PROGRAMS|PROGRAMS|g")"
}
for command in report 'report --json' 'compare a b' 'history a' answers export 'strategies attribute' \
    'strategies agreement' 'transfer --winner a --plain b --recipe c'; do
    say acceleval $command -- </dev/null
done
acceleval show black_scholes --stub >black_scholes.cu
say acceleval check black_scholes.cu
say acceleval profile black_scholes.cu
say acceleval eval black_scholes.cu --quick --seed 1
say acceleval import . --task black_scholes --entrant naive
say acceleval report
say acceleval report --entrant nobody
say acceleval check "$PROGRAMS/aborts.c" --task black_scholes
say acceleval profile "$PROGRAMS/aborts.c" --task black_scholes
say acceleval check nowhere.c
mkdir two; cp black_scholes.cu two/black_scholes.1.cu; cp "$PROGRAMS/aborts.c" two/black_scholes.c
say acceleval check two
# Whatever is judged first, and whichever device is missing.
mkdir three; echo 'int x' >three/black_scholes.cu
for command in check profile 'eval --quick --seed 1'; do
    say acceleval $command three/black_scholes.cu
    say acceleval $command three/black_scholes.cu --device 5
    say acceleval $command three/black_scholes.cu black_scholes.cu
    say acceleval $command black_scholes.cu three/black_scholes.cu
    say acceleval $command black_scholes.cu "$TASKS/black_scholes/naive.cu" --task black_scholes
    grep -c 'no device' printed errors | cut -d: -f2 | paste -sd+ | sed 's/^0+0$/silent/; s/^[0-9+]*$/told/'
done
echo '{"task": "black_scholes", "source": "extern \"C\" void solution_compute() {}"}' | acceleval eval - --seed 1 >printed 2>errors
echo "$?: eval -"
