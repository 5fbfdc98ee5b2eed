"""A relay that carries at most RATE bytes a second back to the client on each connection: throttle.py PORT UPSTREAM RATE

nginx's own limit_rate would not do: it counts by request, and each begins with a second's worth at full speed, so whoever asks
for small ranges is hardly limited at all.
"""

import socket
import sys
import threading
import time

PIECE = 64 << 10
# A thread that woke up late may catch up on this much; a connection that was idle saves up no more.
BURST = 4 * PIECE


def carry(source, target, rate=None):
    """Until the source ends."""
    due = 0.0
    try:
        while data := source.recv(PIECE):
            if rate:
                now = time.monotonic()
                due = max(due, now - BURST / rate)
                if due > now:
                    time.sleep(due - now)
                due += len(data) / rate
            target.sendall(data)
    except OSError:
        pass  # one side went away; so does the other
    finally:
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def serve(client, upstream, rate):
    with client, socket.create_connection(("127.0.0.1", upstream)) as server:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        requests = threading.Thread(target=carry, args=(client, server), daemon=True)
        requests.start()
        carry(server, client, rate)
        requests.join()


def main(port, upstream, rate):
    with socket.create_server(("127.0.0.1", port), backlog=64) as listener:
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client, upstream, rate), daemon=True).start()


main(*(int(argument) for argument in sys.argv[1:4]))
