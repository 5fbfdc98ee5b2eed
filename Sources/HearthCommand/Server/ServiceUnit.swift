import Foundation
import Hearth
import HearthBase

/// The units of systemd's user manager.
///
/// The server's process alone is asked to stop (`KillMode`): it ends its workers after their last answers. A worker that
/// the kernel ends for lack of memory does not end the server (`OOMPolicy`).
enum ServiceUnit {
    /// Starts the process, and lets it end in order.
    static func service(program: String) -> String {
        """
        [Unit]
        Description=Hearth: AI models on this device
        Requires=hearth.socket
        After=hearth.socket

        [Service]
        Type=notify
        ExecStart="\(program)" serve
        ExecReload=/bin/kill -HUP $MAINPID
        Restart=on-failure
        TimeoutStopSec=60
        KillMode=mixed
        OOMPolicy=continue
        NoNewPrivileges=yes

        [Install]
        WantedBy=default.target

        """
    }

    /// Keeps the port open while the process restarts.
    static func socket(port: UInt16) -> String {
        """
        [Unit]
        Description=Hearth's port

        [Socket]
        ListenStream=127.0.0.1:\(port)

        [Install]
        WantedBy=sockets.target

        """
    }

    /// Writes the units, and prints their paths.
    static func install(in context: CommandContext) async throws {
        let settings = try await context.configuration
        try settings.require(.server)
        let service = service(program: try await blocking { try ProgramFile.path() })
        try await context.installUnits(
            ["hearth.service": service, "hearth.socket": socket(port: settings.server.port)], starting: "hearth.socket")
    }
}
