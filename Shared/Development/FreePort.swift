import Foundation

/// Finds a free port, for servers that need their port before they listen.
public enum FreePort {
    /// Below the ports that Linux and macOS give to clients, so that a connection that begins meanwhile does not take it.
    private static let range = 20_000..<32_768

    /// A port of 127.0.0.1; another server may take it before it is used.
    public static func find() throws(DevelopmentPostgres.Failure) -> Int {
        for _ in 0..<1_000 {
            let port = Int.random(in: range)
            if isFree(port) { return port }
        }
        throw DevelopmentPostgres.Failure(description: "127.0.0.1 has no free port from 20000 to 32767")
    }

    private static func isFree(_ port: Int) -> Bool {
        #if os(Linux)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
