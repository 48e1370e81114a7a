# The manual names every command and every option that the help names, and roff's own characters are kept from roff.
acceleval manual >page
sed -e 's/\\f[BRI]//g' -e 's/\\-/-/g' page >plain
for command in $(acceleval help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'); do
    grep -q "^\.SS $command\$" plain || echo "no $command"
    acceleval "$command" --help | grep -oE -e '--[a-z][a-z-]+' | sort -u | while read -r option; do
        [ "$option" = --help ] || grep -q -e "$option" plain || echo "no $option of $command"
    done
done
grep -c '^\.SS ' page | grep -qx "$(acceleval help | grep -cE '^  [a-z]')" && echo "all commands"
grep -cE '^\.TP' page | grep -qE '^[0-9]{2,}$' && echo "many options"
head -3 page
if command -v mandoc >/dev/null; then mandoc -T lint -W error page; fi
