acceleval prepare -t dtw_distance --timed 1 --no-baseline >/dev/null 2>&1
acceleval eval --entrant parallel --task dtw_distance --timed 1 --no-baseline 2>/dev/null
acceleval report --format csv 2>/dev/null | grep -c "dtw_distance,pass"
