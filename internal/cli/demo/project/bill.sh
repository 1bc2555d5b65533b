# What each pays of a bill: bill.sh AMOUNT PEOPLE, in cents.
amount=$1
people=$2
echo $((amount / people))
