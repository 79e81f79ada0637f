import Foundation

/// Answers each request with the head of an answer and the beginning of its body, and never goes on.
package final class StallingServer: Sendable {
    /// On 127.0.0.1.
    package let port: UInt16
    private let socket: Int32

    package init() throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let (listener, length) = (socket, size)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
        let thread = Thread {
            let answer = Array("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n0".utf8)
            var request = [UInt8](repeating: 0, count: 4096)
            var connections: [Int32] = []
            // Ends with the listening socket.
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                connections.append(connection)
                _ = recv(connection, &request, request.count, 0)
                _ = send(connection, answer, answer.count, 0)
            }
            for connection in connections { close(connection) }
        }
        thread.start()
    }

    deinit {
        shutdown(socket, Int32(SHUT_RDWR))
        close(socket)
    }
}
