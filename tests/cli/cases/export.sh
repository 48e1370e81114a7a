# A run travels to another store, and nothing of the bank travels with it.
mkdir alice
cp "$PROGRAMS/right.c" alice/black_scholes.c
acceleval eval alice --quick --size small 2>errors
acceleval export --out runs.archive
secret=$(od -An -v -tx1 data/acceleval/bank.secret | tr -d ' \n')
[ ${#secret} -ge 32 ] || echo "no secret found"
for form in "$secret" "$(printf %s "$secret" | cut -c1-16)"; do
    grep -c "$form" runs.archive
done
grep -c "$(base64 -w0 <data/acceleval/bank.secret)" runs.archive
grep -c '"expected"' runs.archive
export ACCELEVAL_STORE=$PWD/other.db
acceleval import runs.archive
acceleval import runs.archive
acceleval report --format csv | cut -d, -f1,4,6 | head -2
head -c 2000 runs.archive >cut.archive
acceleval import cut.archive
acceleval export --run 7 --out none.archive
acceleval export --run x
