import Foundation

/// Answers each request with the head of an answer and the beginning of its body, and never goes on.
package final class StallingServer: Sendable {
    private let server: SilentServer
    /// On 127.0.0.1.
    package var port: UInt16 { server.port }

    package init() throws {
        server = try SilentServer()
        let listener = server.socket
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

    deinit { shutdown(server.socket, Int32(SHUT_RDWR)) }
}
