#!/usr/bin/env bash
# Kills at 200 moments and at every call to the disk, power cuts after every change.
. "$(dirname "$0")/../stages.sh"
build_tests
# Alone: it takes the time of a pull, and spreads its kills over that.
HEARTH_TESTS=full selected 'KilledPullTests'
HEARTH_TESTS=full selected 'KilledStepTests|KilledActivationTests|KilledStoreTests'
HEARTH_TESTS=full selected 'TransferPowerTests|ActivationPowerTests|StoreInterruptionTests|RepairInterruptionTests|PowerCutTests|CollectionTests'
