#!/usr/bin/env bash
# Ten thousand conversations, and kills of a process that saves a streaming answer; optimised, since the figures count.
. "$(dirname "$0")/../stages.sh"
optimised 'ConversationMeasurements|KilledStreamTests'
