#!/usr/bin/env python3
"""Real servers as upstreams of `hearth serve`: a scripted one, llama-server, another Hearth, and vLLM where it is given.

    scripts/upstreams/peers.py HEARTH --model FILE.gguf --llama LLAMA_SERVER [--vllm FOLDER --vllm-model FOLDER]

- hop: one client, paired: the time to the first token through Hearth against that of the scripted server alone; 32 clients:
  tokens a second.
- failover: the time to the first token of an alias whose first server refuses the connection.
- each real server: an answer in four dialects; then 32 clients on an alias with it in front and a scripted server behind it
  while it is killed, frozen, restarted and asks for pauses. Each request has an answer or a code.
Ends with status 1 if a bar is missed. Only the standard library.
"""
import argparse, asyncio, contextlib, json, os, shutil, signal, socket, statistics, subprocess, sys, time, urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../server"), HERE]
from served import Server, failures, report  # noqa: E402
from asking import ask, load  # noqa: E402

HOP, FAILOVER, SHARE, CLIENTS = 0.005, 0.3, 0.97, 32


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Process:
    """A server that can be killed, frozen and started again on its port."""

    def __init__(self, name, words, port, limit=60, environment=None):
        self.name, self.words, self.port, self.limit, self.environment = name, words, port, limit, environment
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.environment,
                                        start_new_session=True)
        for _ in range(self.limit * 10):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v1/models", timeout=5) as reply:
                    json.load(reply)
                    return
            except (OSError, ValueError):
                time.sleep(0.1)
        sys.exit(f"{self.name} does not start")

    def model(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/v1/models", timeout=5) as reply:
            return json.load(reply)["data"][0]["id"]

    def signal(self, number):
        # With its children, of which it is the group.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()


def scripted(*words):
    port = free_port()
    return Process("the scripted server", [sys.executable, os.path.join(HERE, "scripted.py"), str(port), *map(str, words)], port)


def settings(**upstreams):
    """The settings of upstreams by name: an address, or an address and further settings."""
    values = {}
    for name, place in upstreams.items():
        port, more = place if isinstance(place, tuple) else (place, {})
        values[f"upstreams.{name}.kind"] = "openai"
        values[f"upstreams.{name}.url"] = f"http://127.0.0.1:{port}"
        values.update({f"upstreams.{name}.{key}": value for key, value in more.items()})
    return values


def hop(program):
    """What Hearth adds, with one client and with many."""
    quick, paced = scripted("--tokens", 4, "--rate", 1000), scripted("--tokens", 100, "--rate", 25)
    server = Server(program, settings=settings(quick=quick.port, paced=paced.port))
    try:
        differences = []
        for number in range(210):
            places = [(quick.port, "big"), (server.port, "quick/big")]
            if number % 2:
                places.reverse()
            firsts = {port: asyncio.run(ask(port, model)).first for port, model in places}
            if number >= 10:
                differences.append(firsts[server.port] - firsts[quick.port])
        median = statistics.median(differences)
        report("hop", median <= HOP, f"one client: the first token comes {median * 1000:.2f} ms later (median of 200 pairs, bar {HOP * 1000:.0f} ms)")
        shares = []
        for pair in range(5):
            rates = {}
            places = [("direct", paced.port, "big"), ("through", server.port, "paced/big")]
            for name, port, model in places if pair % 2 else places[::-1]:
                begin = time.perf_counter()
                replies = asyncio.run(load(CLIENTS, port, model, each=2))
                if not all(reply.isWhole for reply in replies):
                    report("hop", False, f"{name}: an answer was lost")
                rates[name] = sum(reply.tokens for reply in replies) / (time.perf_counter() - begin)
            shares.append(rates["through"] / rates["direct"])
        share = statistics.median(shares)
        report("hop", share >= SHARE, f"{CLIENTS} clients: {share:.3f} of its tokens a second (median of 5 pairs, bar {SHARE}; "
               f"{rates['through']:.0f} of {rates['direct']:.0f} in the last)")
    finally:
        server.stop()
        quick.kill()
        paced.kill()


def failover(program):
    """The time to the first token when the first server of an alias refuses the connection."""
    good, limited = scripted("--rate", 1000), scripted("--status", 429)
    values = settings(closed=free_port(), limited=limited.port, good=good.port)
    values |= {"aliases.gpt-5.5": "closed/big,good/big", "aliases.org/Other": "limited/big,good/big", "upstreams.closed.models": "big"}
    server = Server(program, settings=values)
    try:
        for name, passed in (("gpt-5.5", "refused connection"), ("org/Other", "429")):
            firsts = []
            for _ in range(20):
                reply = asyncio.run(ask(server.port, name))
                if not reply.isWhole or reply.headers.get("x-hearth-answered-by") != "good/big":
                    report("failover", False, f"{name}: status {reply.status}, {reply.headers.get('x-hearth-answered-by')}")
                firsts.append(reply.first or 99)
            report("failover", max(firsts) <= FAILOVER,
                   f"after a {passed}: first token after {statistics.median(firsts) * 1000:.0f} ms, at most {max(firsts) * 1000:.0f} ms (bar {FAILOVER * 1000:.0f} ms)")
    finally:
        server.stop()
        good.kill()
        limited.kill()


def dialects(server, name, model):
    """One answer in each dialect."""
    hello = [{"role": "user", "content": "Hi"}]
    asked = {
        "/v1/chat/completions": ({"messages": hello, "max_tokens": 8}, lambda body: body["usage"]["completion_tokens"]),
        "/v1/responses": ({"input": "Hi", "max_output_tokens": 16}, lambda body: body["usage"]["output_tokens"]),
        "/v1/messages": ({"messages": hello, "max_tokens": 8}, lambda body: body["usage"]["output_tokens"]),
        "/api/chat": ({"messages": hello, "stream": False, "options": {"num_predict": 8}}, lambda body: body["eval_count"]),
        "/completion": ({"prompt": "Once upon", "n_predict": 8}, lambda body: body["tokens_predicted"]),
    }
    counts = {}
    for path, (body, count) in asked.items():
        request = urllib.request.Request(server.url + path, json.dumps({"model": model, **body}).encode(), {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                counts[path] = count(json.load(reply))
        except OSError as error:
            counts[path] = f"{error} {getattr(error, 'read', lambda: b'')()[:200]!r}"
    good = all(isinstance(number, int) and number > 0 for number in counts.values())
    report(name, good, f"answers in the dialects: tokens {', '.join(map(str, counts.values()))}")


def under_load(program, name, upstream, model, behind, seconds=6):
    """32 clients on an alias, with the upstream killed, frozen and restarted meanwhile; then on the upstream alone."""
    values = settings(front=(upstream.port, {"slots": 8, "timeout": 3}), behind=behind.port)
    values["aliases.both"] = f"front/{model},behind/big"
    server = Server(program, settings=values)

    def round(what, change, target="both"):
        async def all():
            replies = asyncio.create_task(load(CLIENTS, server.port, target, seconds=seconds))
            await asyncio.sleep(seconds / 3)
            await asyncio.to_thread(change)
            return await replies
        replies = asyncio.run(all())
        lost = [reply for reply in replies if not reply.ended]
        codes = sorted({str(reply.code) for reply in replies if reply.code})
        by = {}
        for reply in replies:
            by[reply.headers.get("x-hearth-answered-by", "-")] = by.get(reply.headers.get("x-hearth-answered-by", "-"), 0) + 1
        report(name, not lost, f"{what}: {len(replies)} requests, {sum(r.isWhole and not r.code for r in replies)} answers, "
               f"{sum(bool(r.code) for r in replies)} with a code ({', '.join(codes) or 'none'}), {len(lost)} lost; "
               + ", ".join(f"{count} by {who}" for who, count in sorted(by.items())))

    try:
        dialects(server, name, f"front/{model}")
        round("under load", lambda: None)
        round("killed", upstream.kill)
        round("restarted", upstream.start)
        round("frozen", lambda: upstream.signal(signal.SIGSTOP))
        round("frozen, alone", lambda: None, f"front/{model}")
        upstream.signal(signal.SIGCONT)
        round("killed, alone", upstream.kill, f"front/{model}")
        upstream.start()
        # Out of its pause after a check.
        for _ in range(450):
            if asyncio.run(ask(server.port, "both")).headers.get("x-hearth-answered-by") == f"front/{model}":
                break
            time.sleep(0.1)
        else:
            report(name, False, "the restarted server does not answer again within 45 s")
        listed = json.loads(server.run("ps", "--format", "json"))["server"]["upstreams"]
        report(name, [row["name"] for row in listed] == ["behind", "front"] and listed[1]["slots"] == 8, "hearth ps shows it")
    finally:
        server.stop()
        upstream.signal(signal.SIGCONT)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--model", required=True)
    parser.add_argument("--llama", required=True)
    parser.add_argument("--vllm", help="the folder with vLLM's packages")
    parser.add_argument("--vllm-model", help="the folder of its model")
    parser.add_argument("--only", help="hop, failover, llama-server, hearth or vllm")
    options = parser.parse_args()
    wanted = lambda name: options.only in (None, name)  # noqa: E731
    if wanted("hop"):
        hop(options.program)
    if wanted("failover"):
        failover(options.program)
    behind = scripted("--rate", 200)
    try:
        if wanted("llama-server"):
            port = free_port()
            words = [options.llama, "-m", options.model, "-t", "2", "-np", "8", "-c", "8192", "--host", "127.0.0.1", "--port", str(port), "-a", "tiny"]
            peer = Process("llama-server", words, port)
            under_load(options.program, "llama-server", peer, "tiny", behind)
            peer.kill()
        if wanted("hearth"):
            other = Server(options.program, options.model)
            other.process.terminate()
            other.process.wait()
            port = free_port()
            peer = Process("another Hearth", [other.program, "serve", "--port", str(port)], port, environment=other.environment)
            under_load(options.program, "another Hearth", peer, peer.model(), behind)
            peer.kill()
            shutil.rmtree(other.home, ignore_errors=True)
        if options.vllm and wanted("vllm"):
            port = free_port()
            words = [sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", options.vllm_model, "--load-format", "dummy", "--enforce-eager",
                     "--served-model-name", "tiny", "--host", "127.0.0.1", "--port", str(port), "--max-model-len", "2048"]
            environment = dict(os.environ, PYTHONPATH=options.vllm, VLLM_NO_USAGE_STATS="1", HF_HUB_OFFLINE="1", VLLM_CPU_KVCACHE_SPACE="1")
            peer = Process("vLLM", words, port, limit=400, environment=environment)
            under_load(options.program, "vLLM", peer, "tiny", behind, seconds=12)
            peer.kill()
    finally:
        behind.kill()
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
