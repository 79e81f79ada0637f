import ArgumentParser
import Foundation
import Synchronization

/// Requests over keep-alive connections, each of which waits for its answer; prints one line of JSON.
struct Load: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "load")

    @Option(help: "Port on 127.0.0.1.")
    var port: UInt16
    @Option(help: "Number of connections.")
    var connections = 16
    @Option(help: "Duration, seconds.")
    var seconds = 4.0
    @Option(help: "Requests per second in total; 0: as fast as they are answered.")
    var rate = 0.0
    @Option(help: "Number of accounts, one of which each request names at random.")
    var accounts: UInt64 = 1
    @Option(help: "API key.")
    var key = "none"
    @Option(help: "Expected status.")
    var status = 200
    @Option(help: "File of bodies, one a line, to upload in the place of questions.")
    var bodies: String?
    @Flag(help: "Ask a few accounts on each connection again and again, with the ETag that they had.")
    var conditional = false

    func run() throws {
        let uploads = try bodies.map { file in
            try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map { upload($0) }
        }
        let results = Mutex<(times: [Double], wrong: Int)>(([], 0))
        let start = Date()
        let threads = (0..<connections).map { number in
            let thread = Thread {
                do {
                    let own = try self.requests(uploads ?? [], until: start.addingTimeInterval(self.seconds))
                    results.withLock { $0 = ($0.times + own.times, $0.wrong + own.wrong) }
                } catch {
                    FileHandle.standardError.write(Data("connection \(number): \(error)\n".utf8))
                    results.withLock { $0.wrong += 1 }
                }
                results.withLock { $0.times.append(-1) }
            }
            thread.start()
            return thread
        }
        // Each thread adds a -1 at its end.
        while results.withLock({ $0.times.lazy.filter { $0 < 0 }.count }) < threads.count { usleep(10_000) }
        let elapsed = Date().timeIntervalSince(start)
        let (all, wrong) = results.withLock { $0 }
        let times = all.filter { $0 >= 0 }.sorted()
        func quantile(_ share: Double) -> Double {
            times.isEmpty ? 0 : times[min(times.count - 1, Int(share * Double(times.count)))] * 1000
        }
        print(
            #"{"perSecond": \#(Double(times.count) / elapsed), "requests": \#(times.count), "wrong": \#(wrong), "#
                + #""p50ms": \#(quantile(0.5)), "p99ms": \#(quantile(0.99))}"#)
    }

    private func requests(_ uploads: [[UInt8]], until end: Date) throws -> (times: [Double], wrong: Int) {
        let socket = try ClientSocket(port: port)
        defer { socket.close() }
        var generator = SystemRandomNumberGenerator()
        var known: [(account: UInt64, tag: String)] = []
        if conditional {
            for _ in 0..<50 {
                let account = UInt64.random(in: 0..<accounts, using: &generator)
                let answer = try socket.exchange(request(account, tag: nil))
                known.append((account, answer.tag ?? ""))
            }
        }
        var times: [Double] = []
        var wrong = 0
        let pause = rate > 0 ? Double(connections) / rate : 0
        // Spread over the interval, so that the connections do not send together.
        var due = Date().addingTimeInterval(pause * Double.random(in: 0..<1, using: &generator))
        while Date() < end {
            var since = Date()
            if pause > 0 {
                if due > since { usleep(UInt32(due.timeIntervalSince(since) * 1_000_000)) }
                // From when it was due: a late one has waited.
                since = due
                due.addTimeInterval(pause)
            }
            let bytes: [UInt8]
            if let upload = uploads.randomElement(using: &generator) {
                bytes = upload
            } else if conditional, let one = known.randomElement(using: &generator) {
                bytes = request(one.account, tag: one.tag)
            } else {
                bytes = request(UInt64.random(in: 0..<accounts, using: &generator), tag: nil)
            }
            let answer = try socket.exchange(bytes)
            if answer.status != status { wrong += 1 }
            times.append(Date().timeIntervalSince(since))
        }
        return (times, wrong)
    }

    private func upload(_ body: Substring) -> [UInt8] {
        Array(
            ("POST /v1/transactions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(key)\r\n"
                + "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8)
    }

    private func request(_ account: UInt64, tag: String?) -> [UInt8] {
        let digits = String(account, radix: 16)
        let token = "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
        let condition = tag.map { "If-None-Match: \($0)\r\n" } ?? ""
        return Array(
            ("GET /v1/accounts/\(token)/entitlements HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(key)\r\n"
                + condition + "\r\n").utf8)
    }
}
