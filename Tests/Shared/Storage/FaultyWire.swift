import Foundation
import Synchronization

/// A proxy between libpq and Postgres that recognises statements and injects a fault into one of them.
///
/// It parses as much of the wire protocol (version 3) as it needs to find statements: frames of a type, a length and content.
final class FaultyWire: Sendable {
    /// What happens to a statement.
    enum Fault: Sendable, Hashable {
        /// The connection is cut before the server receives it.
        case cutBefore
        /// The connection is cut while the server executes it.
        case cutWithin
        /// The connection is cut after the server has executed it, and its answer is lost.
        case cutAfter
        /// The server refuses it with a SQLSTATE; those that end a session end the connection.
        case rejected(String)
    }

    private struct State {
        var target: (statement: String, fault: Fault)?
        var hasHappened = false
        var executed: [String] = []
    }

    private let listener: Int32
    private let server: UInt16
    /// Where clients connect.
    let port: UInt16
    private let state = Mutex(State())

    /// - Parameter server: the port on 127.0.0.1.
    init(to server: UInt16) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.loopback(0)
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound, listen(listener, 16) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
        }
        self.server = server
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in accept() }
    }

    /// Stops accepting clients.
    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    /// Injects a fault into the next execution of a statement, once.
    func arm(_ statement: String, _ fault: Fault) {
        state.withLock { $0 = State(target: (statement, fault)) }
    }

    /// Whether the fault has happened since it was armed.
    var hasHappened: Bool { state.withLock(\.hasHappened) }

    /// The statements executed since the last call, in order.
    func takeExecuted() -> [String] {
        state.withLock { state in
            defer { state.executed = [] }
            return state.executed
        }
    }

    fileprivate func fault(of statement: String) -> Fault? {
        state.withLock { state in
            state.executed.append(statement)
            guard let target = state.target, target.statement == statement else { return nil }
            state.target = nil
            state.hasHappened = true
            return target.fault
        }
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            guard client >= 0 else {
                close(listener)
                return
            }
            let upstream = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = Self.loopback(server)
            let isConnected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(upstream, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            for side in [client, upstream] { Self.sendAtOnce(side) }
            let session = FaultySession(wire: self, client: client, server: upstream)
            guard isConnected else {
                session.cut()
                continue
            }
            Thread.detachNewThread { session.relayStatements() }
            Thread.detachNewThread { session.relayAnswers() }
        }
    }

    /// Frames are sent one by one: each would wait for the confirmation of the one before.
    private static func sendAtOnce(_ socket: Int32) {
        var isOn: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }
}

/// One client's connection.
private final class FaultySession: Sendable {
    private struct State {
        /// Answers that the server still owes: one for each Parse, Bind, Describe and Execute.
        var unanswered = 0
        /// Synchronisations that the server has not answered; it counts the beginning of the session as one.
        var openRounds = 1
        /// Cut when so many more answers have come.
        var cutAfter: Int?
        /// Refuse when so many more answers have come.
        var refuseAfter: Int?
        /// The round whose end has to say that the transaction has failed.
        var failsRound: Int?
        var isCommitRejected = false
    }

    private let wire: FaultyWire
    private let client: Int32
    private let server: Int32
    private let rejection = Mutex("")
    private let state = Mutex(State())

    init(wire: FaultyWire, client: Int32, server: Int32) {
        self.wire = wire
        self.client = client
        self.server = server
    }

    func cut() {
        shutdown(client, Int32(SHUT_RDWR))
        shutdown(server, Int32(SHUT_RDWR))
    }

    // MARK: From the client to the server

    func relayStatements() {
        defer { cut() }
        // The first message has no type.
        guard let startup = PostgresFrame.read(from: client, hasType: false), startup.send(to: server) else { return }
        var statement = ""
        var isDropping = false
        while let frame = PostgresFrame.read(from: client) {
            if frame.type == "B" { statement = frame.boundStatement }
            if isDropping, frame.type != "S", frame.type != "H" { continue }
            if frame.type == "E", let fault = wire.fault(of: statement) {
                switch fault {
                case .cutBefore: return
                case .cutWithin:
                    _ = frame.send(to: server)
                    return
                case .cutAfter: state.withLock { $0.cutAfter = $0.unanswered + 1 }
                case .rejected(let sqlState):
                    isDropping = true
                    guard refuse(sqlState, isCommit: statement == "commit") else { return }
                    continue
                }
            }
            if ["P", "B", "D", "E"].contains(frame.type) { state.withLock { $0.unanswered += 1 } }
            if frame.type == "Q" { state.withLock { $0.openRounds += 1 } }
            if frame.type == "S" {
                state.withLock { $0.openRounds += 1 }
                isDropping = false
                // A server that refuses to commit has rolled back.
                if state.withLock(\.isCommitRejected) {
                    guard PostgresFrame(type: "Q", content: Array("rollback\0".utf8)).send(to: server) else { return }
                    continue
                }
            }
            guard frame.send(to: server) else { return }
        }
    }

    /// At once where nothing is owed, else behind what is.
    private func refuse(_ sqlState: String, isCommit: Bool) -> Bool {
        rejection.withLock { $0 = sqlState }
        let isDue = state.withLock { state in
            state.failsRound = state.openRounds + 1
            state.isCommitRejected = isCommit
            state.refuseAfter = state.unanswered == 0 ? nil : state.unanswered
            return state.unanswered == 0
        }
        if isDue { return sendRejection() }
        return PostgresFrame(type: "H", content: []).send(to: server)
    }

    private func sendRejection() -> Bool {
        let sqlState = rejection.withLock(\.self)
        let fields = ["SERROR", "VERROR", "C" + sqlState, "Mrefused by the test", ""]
        guard PostgresFrame(type: "E", content: fields.flatMap { Array($0.utf8) + [0] }).send(to: client) else {
            return false
        }
        // admin_shutdown and its kin: the session is over.
        return !["57P", "08", "25P"].contains(where: sqlState.hasPrefix)
    }

    // MARK: From the server to the client

    func relayAnswers() {
        defer { cut() }
        while var frame = PostgresFrame.read(from: server) {
            switch frame.type {
            case "1", "2", "n", "T", "C", "I", "s":
                // Of a simple query, which only the rollback instead of a rejected commit is in a transaction.
                if state.withLock({ $0.unanswered == 0 }) {
                    let isSwallowed = state.withLock(\.isCommitRejected)
                    guard isSwallowed || frame.send(to: client) else { return }
                    continue
                }
                let isOver = state.withLock { state -> Bool in
                    state.unanswered -= 1
                    state.cutAfter = state.cutAfter.map { $0 - 1 }
                    return state.cutAfter == 0
                }
                if isOver { return }
                guard frame.send(to: client) else { return }
                let isDue = state.withLock { state -> Bool in
                    state.refuseAfter = state.refuseAfter.map { $0 - 1 }
                    guard state.refuseAfter == 0 else { return false }
                    state.refuseAfter = nil
                    return true
                }
                if isDue, !sendRejection() { return }
                continue
            case "Z":
                let status = state.withLock { state -> Character? in
                    state.openRounds -= 1
                    guard let round = state.failsRound else { return nil }
                    state.failsRound = round == 1 ? nil : round - 1
                    guard round == 1 else { return nil }
                    defer { state.isCommitRejected = false }
                    return state.isCommitRejected ? "I" : "E"
                }
                if let status { frame.content = [status.asciiValue ?? 0] }
            default: break
            }
            guard frame.send(to: client) else { return }
        }
    }

    deinit {
        close(client)
        close(server)
    }
}
