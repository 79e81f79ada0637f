import ArgumentParser
import Foundation
import Hummingbird

/// Hummingbird alone: the same bytes to every request.
struct ServeHummingbird: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "serve-hummingbird")

    @Option(help: "Port on 127.0.0.1.")
    var port: Int
    @Option(help: "Bytes of a body.")
    var bytes = 600

    func run() async throws {
        let body = ByteBuffer(repeating: UInt8(ascii: "x"), count: bytes)
        let application = Application(
            responder: CallbackResponder<BasicRequestContext> { _, _ in
                Response(
                    status: .ok, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: body))
            }, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)))
        try await application.runService()
    }
}

/// The limit of a request over loopback: a thread for each connection, which sends the same bytes for every empty line.
struct ServeFixed: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "serve-fixed")

    @Option(help: "Port on 127.0.0.1.")
    var port: UInt16
    @Option(help: "Bytes of a body.")
    var bytes = 600

    func run() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var on: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in.loopback(port)
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard isBound == 0, listen(listener, 1024) == 0 else {
            throw ClientSocket.Fault(what: "port \(port) cannot be used: \(errno)")
        }
        let answer = Array(
            ("HTTP/1.1 200 OK\r\nContent-Length: \(bytes)\r\nContent-Type: application/json\r\n\r\n"
                + String(repeating: "x", count: bytes)).utf8)
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { continue }
            sockaddr_in.sendAtOnce(connection)
            Thread {
                var received: [UInt8] = []
                var chunk = [UInt8](repeating: 0, count: 16_384)
                while true {
                    let count = recv(connection, &chunk, chunk.count, 0)
                    guard count > 0 else { break }
                    received += chunk[0..<count]
                    guard received.endOfHead != nil else { continue }
                    received.removeAll(keepingCapacity: true)
                    guard send(connection, answer, answer.count, Int32(MSG_NOSIGNAL)) == answer.count else {
                        break
                    }
                }
                close(connection)
            }.start()
        }
    }
}
