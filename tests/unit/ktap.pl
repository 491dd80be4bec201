#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
#
# Reads TAP, or the top level of kernel TAP, from standard input with perl's
# TAP::Parser and prints how many tests that finds, and which failed or were skipped.
# For test_output.c.

use strict;
use warnings;
use TAP::Parser;

my $text = do { local $/; <STDIN> };
my $parser = TAP::Parser->new({ tap => $text });

$parser->run;
printf "%d planned, %d run, failed: %s, skipped: %s, errors: %s\n",
	$parser->tests_planned, $parser->tests_run, join(' ', $parser->failed),
	join(' ', $parser->skipped), join('; ', $parser->parse_errors) || 'none';
