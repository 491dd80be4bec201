# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034 # used by who sources this
#
# What the shell scripts under tests/ share: where things are, how a message
# is printed, what the exit codes are called, how apt is reached.  It starts
# nothing and changes nothing when sourced.

DS_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
DS_BUILD=$DS_TOP/build
DS_PROG=${0##*/}
# depmod, mkfs.ext4 and others are not in every user's path.
PATH=$PATH:/usr/sbin:/sbin
# A make started from here is not part of the one that may have started us.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

# The exit codes of drainctl and of every script here; docs and drainctl use
# the same names.
DS_PASS=0
DS_FAIL=1
DS_USAGE=2
DS_INCONCLUSIVE=3
DS_SKIP=4
DS_ERROR=5
DS_HANG=6
DS_VERDICTS=(PASS FAIL USAGE INCONCLUSIVE SKIP ERROR HANG)

ds_say()
{
	printf '%s: %s\n' "$DS_PROG" "$*" >&2
}

# ds_die CODE MESSAGE...
ds_die()
{
	local code=$1

	shift
	ds_say "$*"
	exit "$code"
}

# ds_quote WORD...: the words, quoted for any POSIX shell, on one line.
# printf %q is not used: its $'...' form is not understood everywhere.
ds_quote()
{
	local word sep='' q="'\\''"

	for word; do
		case $word in
		'' | *[!A-Za-z0-9_./:=,+@%-]*) word="'${word//\'/$q}'" ;;
		esac
		printf '%s%s' "$sep" "$word"
		sep=' '
	done
}

# ds_worst CODE CODE: prints the one that decides when two verdicts meet.
# FAIL over HANG over ERROR over INCONCLUSIVE; USAGE and SKIP only say that
# nothing ran, so they weigh less than any of these but more than a PASS.
ds_worst()
{
	local code

	for code in 1 6 5 3 2 4; do
		if [ "$1" -eq $code ] || [ "$2" -eq $code ]; then
			echo $code
			return
		fi
	done
	if [ "$1" -eq 0 ] && [ "$2" -eq 0 ]; then
		echo 0
	else
		echo 5
	fi
}

# ds_seconds 90|90s|5m|1h: prints seconds; fails on anything else.
ds_seconds()
{
	local n=${1%[smh]}

	case $n in
	'' | *[!0-9]* | ?????????*) return 1 ;;
	esac
	n=$((10#$n))
	case $1 in
	*m) n=$((n * 60)) ;;
	*h) n=$((n * 3600)) ;;
	esac
	echo "$n"
}

# The kernel's build system and make itself cannot work under every path.
ds_need_plain_path()
{
	case $DS_TOP in
	*[!A-Za-z0-9_./+@,=-]*)
		ds_die $DS_ERROR "the path of this clone, '$DS_TOP', holds a" \
			"character that the kernel's build system cannot" \
			"work with: move it to a path of letters, digits" \
			"and _ . / + @ , = -"
		;;
	esac
}

# ds_as_root COMMAND...: runs it as root, directly or through a sudo that asks
# no password.  126 when there is neither.
ds_as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
		sudo -n "$@"
	else
		return 126
	fi
}

# ds_make WORD...: make in the clone, one at a time, whoever asks.
ds_make()
{
	mkdir -p "$DS_BUILD" &&
		(flock 8 && exec make -s -C "$DS_TOP" "$@") 8>"$DS_BUILD/.lock"
}

# ds_apt WORD...: apt-get without questions.  Waits for another apt to end.
ds_apt()
{
	ds_as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -q -o DPkg::Lock::Timeout=300 "$@" >&2
}
