# What --profile finds out stays with the result: reports show it, and it travels.
mkdir alice
cp "$PROGRAMS/right.c" alice/black_scholes.c
acceleval eval alice --quick --size small 2>errors >/dev/null
acceleval report --phases --format csv | grep -c '^phases,' # nothing was profiled
acceleval eval alice --quick --size small --profile 2>errors >/dev/null
sums() { # the phases of a call add up to it
    acceleval report --phases --format json | sed -n '/"id":"phases"/,$p' | grep -o '"\(call\|host\|system\|idle\)":[0-9.e-]*' |
        awk -F: '$1 == "\"call\"" { call = $2 } $1 != "\"call\"" { sum += $2 }
            END { print (call > 0 && sum > 0.999 * call && sum < 1.001 * call) ? "the phases add up" : "they do not" }'
}
sums
acceleval report --phases --format csv | sed -n 's/^\(phases,black_scholes,small,alice,cpu\),.*/\1/p'
acceleval report --format html --out page.html
grep -c 'class="waterfall"' page.html
acceleval export --out runs.archive
export ACCELEVAL_STORE=$PWD/other.db
acceleval import runs.archive
sums
