import Foundation
import Hearth
import HearthBase

/// The units of systemd's user manager.
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
        let environment = context.environment
        let folder: Path
        if let configuration = environment["XDG_CONFIG_HOME"], configuration.hasPrefix("/") {
            folder = Path(configuration).appending("systemd").appending("user")
        } else {
            folder = Path((environment["HOME"] ?? NSHomeDirectory()) + "/.config/systemd/user")
        }
        let settings = try await context.configuration
        try settings.require(.server)
        let port = settings.server.port
        let paths = try await blocking {
            let fileSystem = LocalFileSystem()
            try fileSystem.makeFolders(folder)
            let service = folder.appending("hearth.service")
            let socket = folder.appending("hearth.socket")
            try fileSystem.replaceContents(
                of: service, with: Data(Self.service(program: try DetachedServer.executable()).utf8))
            try fileSystem.replaceContents(of: socket, with: Data(Self.socket(port: port).utf8))
            return [service, socket]
        }
        for path in paths { try context.console.print(path.string) }
        context.console.say(
            "Start it with: systemctl --user daemon-reload && systemctl --user enable --now hearth.socket")
    }
}
