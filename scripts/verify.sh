#!/usr/bin/env bash
# make verify: everything in full, in stages of at most thirty minutes.
#   scripts/verify.sh              every stage
#   scripts/verify.sh STAGE…       these
#   scripts/verify.sh --stages     their names
# Each stage leaves docs/evidence/DATE-STAGE.md: the commit, the machine, what was run, what came out.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/env.sh
stages="tests engine thread-sanitizer address-sanitizer swap soak schemas fuzz crash disk limits network cloud records stores assistant classify server server-soak server-peers gateway clients publish page tuf train-classifier consumer first-run bench bench-engine bench-peers bench-extremes"
if [ "${1:-}" = --stages ]; then echo "$stages"; exit; fi

flags=(--pkg-config-path "$llama_prefix/lib/pkgconfig")

stage_tests() {
    make --no-print-directory lint
    make --no-print-directory test
    swift build -c release "${flags[@]}" --static-swift-stdlib --no-color-diagnostics
    make --no-print-directory docs
}

# llama.cpp is as it is: what ggml does among its own threads and with its own memory is not looked at; what ours do, and what they
# hand over and get back, is. What is left out has time limits that a sanitizer's tenfold slowness does not keep, ends by the
# sanitizer's own hand instead of its signal, measures resident memory, of which a sanitizer keeps what was freed for a while, or
# asks for more than there is, which a sanitizer takes for a fault.
sanitized() { # thread or address, and ASAN_OPTIONS for the engine's tests
    local options=("${flags[@]}" --sanitize="$1" --scratch-path ".build-$1" --no-color-diagnostics)
    swift build "${options[@]}" --build-tests
    local tests; tests="$(swift build "${options[@]}" --show-bin-path)/hearthPackageTests.xctest"
    ASAN_OPTIONS="${2:-}" few HearthLlamaTests --skip isDoneManyTimesWithoutALeak --skip refusesMoreThanThereIs
    # In parts, as in `make test`: with all of them at once, many wait longer than their limits for a thread.
    # A sanitizer ends a process that loads a library as TBB does, which comes with OpenVINO and OpenCV: no classification.
    local skip=(--skip Classif --skip EndToEndTests --skip blockedBodiesStallNoTask --skip twoInstallersOfOneReleaseEndWell
        --skip aConsumerWhoTakesHisTimeIsNotSilence --skip holesStayHolesAndNothingElse --skip manyReleasesAreListedQuickly
        --skip CrashedTerminalTests --skip aFatalSignalGivesTheTerminalBack --skip memoryIsFlatOverManyTurns
        --skip requestsAreAnsweredWhileVersionsSwap)
    local apart='HearthAssistantTests|HearthDatabaseTests|HearthServerTests|HearthHTTPTests|BlockingTests'
    few "$apart" "${skip[@]}"
    few HearthCommandTests --skip BlockingTests "${skip[@]}"
    few . --skip "HearthLlamaTests|HearthCommandTests|$apart" "${skip[@]}"
}
few() { # the choice of tests, of `tests`, and further arguments
    local filter=$1; shift
    env -u SWIFT_DETERMINISTIC_HASHING "$tests" --testing-library swift-testing --experimental-maximum-parallelization-width 6 \
        --filter "$filter" "$@"
}
stage_thread_sanitizer() { sanitized thread; }

# Leaks are left out: what it reports are the one-time allocations of the Swift runtime and Foundation; the soak counts handles.
stage_address_sanitizer() {
    export ASAN_OPTIONS="detect_leaks=0:suppressions=$PWD/scripts/asan-suppressions.txt"
    # Vectors that llama.cpp fills and the shim reads are marked by one side only.
    sanitized address "$ASAN_OPTIONS:detect_container_overflow=0"
}

# The engine's tests with all of their rounds, and those of the program with the default model; `make test` takes a share of them.
stage_engine() {
    swift build "${flags[@]}" --build-tests
    HEARTH_TESTS=full selected 'HearthLlamaTests'
    HEARTH_TESTS=full selected 'EndToEndTests|StoppedChatTests|QuantizingTests'
}

# Five hundred requests of all kinds to two models, in a process of their own, whose memory and handles are counted.
stage_soak() {
    swift build "${flags[@]}" --build-tests
    HEARTH_SOAK="${HEARTH_SOAK:-500}" swift test "${flags[@]}" --skip-build --filter RealModel/Soak
}

# The default model answers a hundred schemas: each answer is valid, cut, or told with the keyword it misses.
stage_schemas() {
    swift build "${flags[@]}" --build-tests
    HEARTH_SCHEMAS=full swift test "${flags[@]}" --skip-build --filter RealModel/SchemaAnswers
}

# Versions of a model that change places under load, in a process of their own, whose memory is measured.
stage_swap() {
    swift build "${flags[@]}" --build-tests
    # In one arena of the C library: each further one keeps the freed end of its heap, which would count as used.
    MALLOC_ARENA_MAX=1 HEARTH_TESTS=full selected 'HotSwapTests|EnginePoolTests'
}

stage_fuzz() { FUZZ_SECONDS="${FUZZ_SECONDS:-120}" scripts/fuzz.sh; }

# Kills at 200 moments and at every call to the disk, power cuts after every change.
stage_crash() {
    swift build "${flags[@]}" --build-tests
    # Alone: it takes the time of a pull, and spreads its kills over that.
    HEARTH_TESTS=full selected 'KilledPullTests'
    HEARTH_TESTS=full selected 'KilledStepTests|KilledActivationTests|KilledStoreTests'
    HEARTH_TESTS=full selected 'TransferPowerTests|ActivationPowerTests|StoreInterruptionTests|RepairInterruptionTests|PowerCutTests|CollectionTests'
}

# Every call to the disk fails, through the seam and under strace.
stage_disk() {
    swift build "${flags[@]}" --build-tests
    HEARTH_TESTS=full selected 'TransferDiskTests|FailingDiskTests'
    scripts/setup.sh disk
    make --no-print-directory build
    LIMITS_REQUIRED=1 scripts/inject.sh
}

selected() { # the choice of tests, and further arguments
    local filter=$1; shift
    env -u SWIFT_DETERMINISTIC_HASHING swift test "${flags[@]}" --skip-build --filter "$filter" "$@"
}

stage_limits() {
    make --no-print-directory build
    HEARTH_LLAMA_SOURCE="$llama_source" HEARTH_WEB_LICENSES="$llama_prefix/include/hearth-web/licenses" scripts/licenses.py --check .build/release/hearth
    LIMITS_REQUIRED=1 scripts/limits.sh
}

stage_network() {
    swift build "${flags[@]}" --build-tests
    NETWORK_REQUIRED=1 scripts/network.sh
}

# The vendors' own clients against the stand-in, then the cloud engines against it and against llama-server.
stage_cloud() {
    scripts/setup.sh bench
    swift build "${flags[@]}" --build-tests
    # The program that people run: an optimised build can fail where a debug build answers.
    make --no-print-directory build
    HEARTH_BINARY="$PWD/.build/release/hearth" scripts/cloud/run.sh
    HEARTH_TESTS=full selected 'ManyConversationsTests|RouteTests'
}

# Ten thousand conversations, and kills of a process that saves a streaming answer; optimised, since the figures count.
stage_records() {
    HEARTH_TESTS=full swift test -c release -Xswiftc -enable-testing "${flags[@]}" --scratch-path .build-records \
        --filter 'ConversationMeasurements|KilledStreamTests'
}

# Calendars, reminders and contacts together with the programs that share their files.
stage_stores() {
    swift build "${flags[@]}" --build-tests
    scripts/stores.sh
}

# The assistant's tests with all of their rounds; the default model writes two hundred blocks.
stage_assistant() {
    swift build "${flags[@]}" --build-tests
    # One measures the memory of the process, and one times of an optimised build (stage records).
    HEARTH_TESTS=full selected 'HearthAssistantTests|MarkdownStreamTests|HostileMarkdownTests' \
        --skip 'RealAssistantTests|ManyTurnsTests|ConversationMeasurements'
    HEARTH_TESTS=full selected ManyTurnsTests
    # Optimised, as in a release: what is measured is the price of the grammar.
    HEARTH_TESTS=full swift test -c release -Xswiftc -enable-testing "${flags[@]}" --scratch-path .build-records \
        --filter RealAssistantTests
    if [ -n "${HEARTH_COMMONMARK:-}" ]; then selected CommonMarkTests; fi
    make --no-print-directory build
    scripts/assistant.sh
}

# The resident process: idle, slow, hostile and vanishing clients, restarts, SIGKILL under load, a closed terminal.
stage_server() {
    make --no-print-directory build
    scripts/server-load.py .build/release/hearth --model "$default_model"
}

# Half an hour of mixed load: no answer is lost, and the memory stays.
stage_server_soak() {
    make --no-print-directory build
    scripts/server-soak.py .build/release/hearth --model "$default_model" --minutes "${SOAK_MINUTES:-28}"
}

# The same load on llama-server of the same build, in turns.
stage_server_peers() {
    scripts/setup.sh bench
    make --no-print-directory build
    scripts/server-peers.py .build/release/hearth --model "$default_model" --peer "$llama_prefix/bin/llama-server"
}

# The gateway with PostgreSQL, which restarts in the middle, and an S3 server that checks signatures: ten thousand requests.
stage_gateway() {
    swift build "${flags[@]}" --build-tests
    make --no-print-directory build
    GATEWAY_REQUIRED=1 scripts/gateway.sh .build/release/hearth
}

# Other people's clients, and llama.cpp's own tests of its server.
stage_clients() {
    make --no-print-directory build
    scripts/clients/all.sh .build/release/hearth
}

# Two S3 servers of other people: publications and kills, a new publisher's steps up to the answer of a device, and signatures
# compared with botocore's and with AWS's examples.
stage_publish() {
    make --no-print-directory build
    scripts/publish/run.sh .build/release/hearth
}

# The page in a browser: against a scripted server, then with the built program and pages of other origins.
stage_page() {
    scripts/page/run.sh
    make --no-print-directory build
    scripts/page/run.sh live
}

# The character classifier is trained anew, and the one of the tree is measured.
stage_train_classifier() {
    scripts/classify/run.sh scripts/train-classifier.py --into .build/hearth-hanzi --variants .build/hearth-hanzi-variants
    scripts/classify/run.sh scripts/train-classifier.py --measure models/hearth-hanzi
}

# The command against onnxruntime on the same networks and pictures, pages, large pictures, kills during an update, the cloud's
# stand-in, speed; and the exchange of classifiers under load, in full.
stage_classify() {
    swift build "${flags[@]}" --build-tests
    make --no-print-directory build
    scripts/setup.sh disk
    scripts/classify/all.sh .build/release/hearth
    HEARTH_TESTS=full selected 'ClassifierProxyTests|NomClassifierTests|ClassifierTests'
}

# Signed origins: both ways with python-tuf, the attacks by name, and tuf-conformance, whose unpacked folder HEARTH_TUF_SUITE names.
stage_tuf() {
    make --no-print-directory build
    scripts/trust/run.sh .build/release/hearth
}

# Apps that depend on this package by URL, as another user.
stage_consumer() { scripts/test-consumer.sh url; }

# A stranger's first minutes: a fresh clone, a home of its own, the same command twice.
stage_first_run() {
    local folder; folder="$(mktemp -d)"
    # shellcheck disable=SC2064
    trap "rm -rf '$folder'" RETURN
    git clone -q . "$folder/hearth"
    cd "$folder/hearth"
    export HEARTH_HOME="$folder/home"
    make --no-print-directory run > first.txt 2>&1 || { cat first.txt; return 1; }
    cat first.txt
    make --no-print-directory build
    local begin; begin=$(date +%s%N)
    scripts/run.sh > second.txt 2>&1 || { cat second.txt; return 1; }
    local milliseconds=$((($(date +%s%N) - begin) / 1000000))
    cat second.txt
    grep -q Paris first.txt || { echo "the first answer does not name Paris"; return 1; }
    grep -q Paris second.txt || { echo "the second answer does not name Paris"; return 1; }
    grep -q '0 model bytes were fetched' second.txt || { echo "the second run fetched model bytes"; return 1; }
    echo "the second run took $milliseconds ms"
    [ "$milliseconds" -lt 5000 ] || { echo "that is over 5 s"; return 1; }
}

# A missed bar fails the stage: its record says so in its first line, and names the figure.
bench() { BENCH_STRICT=1 make --no-print-directory bench BENCH="$1"; }
stage_bench() { bench basic; }
stage_bench_engine() { bench engine; }
stage_bench_peers() { bench peers; }
stage_bench_extremes() { bench extremes; }

machine() {
    printf -- '- processor: %s, %s cores\n' "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -1)" "$(nproc)"
    printf -- '- memory: %s\n' "$(awk '/MemTotal/ {printf "%.1f GB", $2 * 1024 / 1e9}' /proc/meminfo)"
    printf -- '- system: %s, Linux %s\n' "$(. /etc/os-release && echo "$PRETTY_NAME")" "$(uname -r)"
    printf -- '- Swift: %s\n' "$(swift --version 2>/dev/null | head -1)"
    printf -- '- llama.cpp: as packed in %s\n' "$llama_package"
    printf -- '- load at the start: %s\n' "$(cut -d' ' -f1 /proc/loadavg)"
}

# The folders of a user do not belong in a record.
impersonal() { sed -e "s#$PWD#.#g" -e "s#$HEARTH_CACHE#CACHE#g" -e "s#$HOME#~#g" -e 's#/tmp/tmp\.[A-Za-z0-9]*#TEMPORARY#g'; }

run_stage() {
    local stage=$1 log record verdict=passed begin=$SECONDS
    log="$(mktemp)"
    mkdir -p docs/evidence
    local facts; facts="$(machine)"
    local commit; commit="$(git rev-parse HEAD)$(git diff --quiet HEAD -- . ':!docs/evidence' || echo ' with changes')"
    echo "== verify $stage" >&2
    # A shell of its own: a command beside `||`, as this function is, has errexit switched off all the way down.
    local status=0
    scripts/verify.sh --inside "$stage" 2>&1 | tee "$log" || status=$?
    record="docs/evidence/$(date -u +%F)-$stage.md"
    # A failed record is kept beside a later one.
    if [ "$status" != 0 ]; then
        verdict="FAILED ($status)"
        record="docs/evidence/$(date -u +%F-%H%M)-$stage-failed.md"
    fi
    {
        printf '# %s: %s\n\n' "$stage" "$verdict"
        printf -- '- date: %s\n- commit: %s\n%s\n' "$(date -u +%FT%TZ)" "$commit" "$facts"
        printf -- '- command: `make verify STAGE=%s`, %d s\n\n```\n' "$stage" "$((SECONDS - begin))"
        # All figures first: the log below is shortened to its end.
        grep -aE '^bench ' "$log" | impersonal || true
        # Compiler progress is no evidence; what tests, checks and benchmarks said is.
        tr '\r' '\n' < "$log" | grep -vE '^\[[0-9]+/[0-9]+\]|^(Building|Planning|Compiling|Write|Linking|bench) |^[◇➜] ' | sed 's/\x1b\[[0-9;]*[A-Za-z]//g' \
            | tail -"${EVIDENCE_LINES:-120}" | impersonal
        printf '```\n'
    } > "$record"
    rm -f "$log"
    echo "== $stage: $verdict, recorded in $record" >&2
    [ "$status" = 0 ]
}

if [ "${1:-}" = --inside ]; then "stage_${2//-/_}"; exit; fi

failed=""
# shellcheck disable=SC2086
for stage in ${*:-$stages}; do
    case " $stages " in *" $stage "*) ;; *) echo "verify: no stage is named $stage; there are: $stages" >&2; exit 64 ;; esac
    run_stage "$stage" || failed="$failed $stage"
done
[ -z "$failed" ] || { echo "verify: failed:$failed" >&2; exit 1; }
