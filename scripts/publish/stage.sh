#!/usr/bin/env bash
# Two S3 servers of other people: publications and kills, a new publisher's steps up to the answer of a device, and signatures
# compared with botocore's and with AWS's examples.
. "$(dirname "$0")/../stages.sh"
build_tests
build_program
scripts/publish/run.sh "$program"
