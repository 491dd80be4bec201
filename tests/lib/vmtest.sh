# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034 # used by the tests that source this
#
# Helpers for the tests in tests/vm/t/NAME.test, which source this first.  A
# test prints "ok" and "not ok" lines, which tests/run-checks counts; one that
# prints none has failed.  This starts nothing by itself.
#
#	#!/bin/bash
#	. "$(dirname "$0")/../../lib/vmtest.sh"
#	needs_kernel debian-6.12
#	run 0 "caps are printed" --kernel debian-6.12 -- caps
#	has_out "it names the kernel" '^kernel: 6\.12'
#	finish

# shellcheck source=tests/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

VM_RUN=$DS_TOP/tests/vm/run
: "${KERNELS:=debian-6.1 debian-6.12}"

T=$(mktemp -d) || exit 5
trap 'rm -rf "$T"' EXIT
asserted=0
failed=0

# ok NAME, not_ok NAME [WHY...], skip NAME WHY...: one result.
ok()
{
	asserted=$((asserted + 1))
	echo "ok $asserted - $1"
}

not_ok()
{
	local name=$1

	shift
	asserted=$((asserted + 1))
	failed=$((failed + 1))
	echo "not ok $asserted - $name"
	[ $# -eq 0 ] || printf '# %s\n' "$*"
}

skip()
{
	local name=$1

	shift
	asserted=$((asserted + 1))
	echo "ok $asserted - $name # SKIP $*"
}

# check NAME COMMAND...: ok when the command succeeds.
check()
{
	local name=$1

	shift
	if "$@"; then
		ok "$name"
	else
		not_ok "$name" "failed: $(ds_quote "$@")"
	fi
}

# finish: the last line of each test.
finish()
{
	echo "1..$asserted"
	[ $failed -eq 0 ] && [ $asserted -gt 0 ]
	exit
}

# needs_kernel NAME: the rest of the test is skipped when there is no such
# kernel, and fails when it cannot be fetched.
needs_kernel()
{
	local code

	"$DS_TOP/tests/vm/fetch-kernel" "$1" 2>"$T/fetch"
	code=$?
	[ $code -eq 0 ] && return
	if [ $code -eq $DS_SKIP ]; then
		skip "everything" "$(tail -n 1 "$T/fetch")"
	else
		not_ok "kernel $1" "$(tail -n 1 "$T/fetch")"
	fi
	finish
}

show()
{
	sed "s/^/#   $1| /" "$2" | tail -n 30
}

# expect CODE NAME COMMAND...: ok when it exits with that code.  Its output is
# left in $T/out and $T/err for has_out, has_err, key.
expect()
{
	local want=$1 name=$2 got

	shift 2
	"$@" >"$T/out" 2>"$T/err" </dev/null
	got=$?
	# What the emulator broke says nothing of what is tested: once more.
	if [ $got -eq $DS_ERROR ] && [ "$want" -ne $got ] &&
		grep -q "QEMU's fault, not the kernel's" "$T/err"; then
		echo "# $name: again, after a fault of the emulator"
		rm -rf "$T/results"
		"$@" >"$T/out" 2>"$T/err" </dev/null
		got=$?
	fi
	if [ $got -eq "$want" ]; then
		ok "$name"
		return 0
	fi
	not_ok "$name" "exit code $got, not $want: $(ds_quote "$@")"
	show out "$T/out"
	show err "$T/err"
	keep_results
	return 1
}

# The files of a failed run are wanted: $T goes away with the test.
keep_results()
{
	local kept=$DS_BUILD/check/failed/${DS_PROG%.test}-$asserted-$$

	[ -d "$T/results" ] || return
	mkdir -p "${kept%/*}" && cp -r "$T/results" "$kept" &&
		echo "# its files are in ${kept#"$DS_TOP"/}"
}

# run CODE NAME RUN-ARGUMENT...: the same for tests/vm/run, whose files are
# then in $T/results.
run()
{
	local want=$1 name=$2

	shift 2
	rm -rf "$T/results"
	expect "$want" "$name" "$VM_RUN" --results "$T/results" "$@"
}

# guest CODE NAME KERNEL RUN-ARGUMENT... <SCRIPT: boots and runs the script
# that stands on standard input.
guest()
{
	local want=$1 name=$2 kernel=$3

	shift 3
	cat >"$T/script"
	run "$want" "$name" --kernel "$kernel" --guest-script "$T/script" "$@"
}

# guest_results WHERE: the results that the guest's script printed with ok,
# expect and says of tests/vm/guest-lib, each a result of this test.
guest_results()
{
	local line

	while IFS= read -r line; do
		case $line in
		"ok - "*) ok "$1: ${line#ok - }" ;;
		"not ok - "*) not_ok "$1: ${line#not ok - }" ;;
		"# "*) echo "#   ${line#\# }" ;;
		esac
	done <"$T/out"
	grep -q '^ok - ' "$T/out" || not_ok "$1: the guest tested something"
}

# has_out NAME REGEX, has_err NAME REGEX: a line of the last output matches.
has_out()
{
	if grep -Eq -- "$2" "$T/out"; then
		ok "$1"
	else
		not_ok "$1" "no line matches: $2"
		show out "$T/out"
	fi
}

has_err()
{
	if grep -Eq -- "$2" "$T/err"; then
		ok "$1"
	else
		not_ok "$1" "no line matches: $2"
		show err "$T/err"
	fi
}

# key NAME: the value of the last "NAME: value" line of the last output.
key()
{
	sed -n "s/^$1: //p" "$T/out" | tail -n 1
}

# key_is NAME VALUE, key_above NAME NUMBER: about such a line.
key_is()
{
	if [ "$(key "$1")" = "$2" ]; then
		ok "$1 is $2"
	else
		not_ok "$1 is $2" "it is '$(key "$1")'"
	fi
}

key_above()
{
	local value

	value=$(key "$1")
	if [[ $value =~ ^[0-9]+$ ]] && [ "$value" -gt "$2" ]; then
		ok "$1 is above $2"
	else
		not_ok "$1 is above $2" "it is '$value'"
	fi
}
