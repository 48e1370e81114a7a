# How many answers there are is chance: of a near-twin as many as had to be tried.
export ACCELEVAL_CACHE=$PWD/one ACCELEVAL_BANK=$PWD/bank ACCELEVAL_STORE=$PWD/results
acceleval eval --entrant parallel --task smith_waterman --quick >said 2>errors || cat said errors
acceleval cache export carried.json | sed 's/^[0-9][0-9]* baselines/SOME baselines/; s/ [0-9]* digests/ SOME digests/'
export ACCELEVAL_CACHE=$PWD/two
acceleval cache import carried.json | sed 's/^[0-9][0-9]* baselines/SOME baselines/; s/ [0-9]* digests/ SOME digests/; s/, [0-9]* passed over//' | grep -v '^no baselines'
sed s/smith/smyth/ <carried.json >damaged.json
acceleval cache import damaged.json
acceleval cache import missing.json
acceleval cache import
acceleval eval --entrant parallel --task smith_waterman --quick >said 2>errors || cat said errors
acceleval report --format json >report.json
grep -c 'The reference was timed on' report.json
# What it shows it knows by name.
acceleval cache show | awk 'NR > 1 {print $1}' | while read -r kind; do
    acceleval cache show --kind "$kind" >/dev/null || echo "$kind is refused"
done
