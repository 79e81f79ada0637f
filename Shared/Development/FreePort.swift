import Foundation

/// Finds a free port, for servers that need their port before they listen.
public enum FreePort {
    /// A port of 127.0.0.1; another process may take it before it is used.
    public static func find() throws(DevelopmentPostgres.Failure) -> Int {
        #if os(Linux)
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0 && getsockname(descriptor, generic, &length) == 0
            }
        }
        guard isBound else {
            throw DevelopmentPostgres.Failure(description: "the kernel has no free port on 127.0.0.1")
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}
