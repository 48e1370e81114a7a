acceleval repro "$PROGRAMS/zeros.c" --task black_scholes -o r 2>errors; ls r; make -s -C r 2>&1; (cd r && ./repro | sed "s/[0-9].*//")
for task in dtw_distance bellman_ford monte_carlo; do
    acceleval repro "$TASKS/$task/parallel.c" --task $task -o $task >/dev/null 2>errors
    make -s -C $task 2>&1; (cd $task && ./repro | sed "s/: 0 of [0-9]* \(outside of the tolerance\).*/: none \1/")
done
mkdir mine; echo mine >mine/Makefile; acceleval repro "$PROGRAMS/zeros.c" --task black_scholes -o mine 2>&1; cat mine/Makefile
acceleval repro "$TASKS/dtw_distance/naive.cu" --task dtw_distance -o dtw_distance >/dev/null 2>errors; ls dtw_distance
