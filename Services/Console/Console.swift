import AppStore
import Chassis
import Operations
import Signatures
import Storage

import struct Foundation.Date
import struct Foundation.UUID

/// What pages are made from.
struct Console: Sendable {
    let database: ConnectionPool
    /// For the few statements that may take longer than a page does.
    let patientDatabase: ConnectionPool
    let templates: Templates
    let tokens: FormTokens
    let origin: Origin
    let session: Duration
    /// Nil where no OpenID provider signs people in.
    let provider: ProviderSettings?
    let status: StatusWatch
    let insight: InsightReports
    /// The trusted roots of the moment.
    let trust: @Sendable () -> TrustStore
    /// Nil where there are no keys for Apple's API.
    let apple: APIClients?
    let clock: ProcessClock
    let newId: @Sendable () -> UUID
    /// 256 random bits as text.
    let newSecret: @Sendable () -> String
    /// Between two looks of a page that is live.
    let sleep: @Sendable (Duration) async throws -> Void
    let logger: Logger

    /// A page with what stands around it.
    func page(
        _ template: String, _ title: String, _ model: Any, _ request: ConsoleRequest, status: Int = 200
    ) -> ConsoleResponse {
        let shell = Shell(
            title: title, request: request, done: request.query["done"].flatMap(Shell.sentence), now: clock.now())
        return .html(templates.html(template, model, in: shell), status: status)
    }

    func page(of fault: Fault) -> ConsoleResponse {
        let shell = Shell(title: "\(fault.status)", now: clock.now())
        return .html(templates.html("fault", FaultPage(fault: fault), in: shell), status: fault.status)
    }

    private struct FaultPage {
        let fault: Fault
    }

    /// What a person did, for the audit log.
    func action(
        _ command: String, on subject: String, _ request: ConsoleRequest, about: OperatorAction.About? = nil
    ) throws -> OperatorAction {
        OperatorAction(
            actedAt: clock.now(), actor: request.name, action: command, subject: subject,
            note: try request.reason(), about: about)
    }
}
