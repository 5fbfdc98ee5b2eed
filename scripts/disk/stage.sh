#!/usr/bin/env bash
# Every call to the disk fails, through the seam and under strace.
. "$(dirname "$0")/../stages.sh"
build_tests
HEARTH_TESTS=full selected 'TransferDiskTests|FailingDiskTests|PackingDiskTests|UncachedWritingTests|ArchiveCorpusTests'
scripts/setup.sh disk
build_program
LIMITS_REQUIRED=1 scripts/disk/inject.sh
