import Chassis
import Operations
import ServerAPI
import Signatures
import Storage

import struct Foundation.Date
import struct Foundation.UUID

/// What pages are made from.
struct Console: Sendable {
    let database: ConnectionPool
    /// The connection of erasures, which may take longer than a page does and wait for nothing else.
    let erasureDatabase: ConnectionPool
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
    /// Questions to Apple that a page may cause by itself, by the person's name.
    let questions: QuestionBudget<String>
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
        return .html(templates.html(template, model, in: shell), status: request.rejection?.status ?? status)
    }

    func page(of fault: Fault) -> ConsoleResponse {
        let shell = Shell(title: "\(fault.status)", now: clock.now())
        return .html(templates.html("fault", FaultPage(fault: fault), in: shell), status: fault.status)
    }

    private struct FaultPage {
        let fault: Fault
    }

    /// The person of the request and the reason, for the audit log; a person always gives one.
    func performer(_ request: ConsoleRequest) throws -> Performer {
        let performer = try Performer(request.name, reason: request.form["reason"], at: clock.now())
        guard performer.reason != nil else {
            throw Fault(
                422, "Nothing was done: the reason is missing.",
                "Say why, in 1 to \(Performer.longestReason) characters.", field: "reason")
        }
        return performer
    }

    /// A hidden field with the id of what the form makes: the same form again, as by a double click, makes nothing more.
    func idField(_ request: ConsoleRequest) -> (String, String) {
        ("id", request.rejection?.form["id"] ?? newId().uuidString.lowercased())
    }

    /// The id that came with a form.
    func id(of request: ConsoleRequest) -> UUID { request.form["id"].flatMap { UUID(uuidString: $0) } ?? newId() }

    /// Whether an operation is not done yet: the page of its plan is shown first where a person asks for it, or where there is a doubt
    /// that the person has not seen.
    func mustConfirm(_ plan: OperationPlan, _ request: ConsoleRequest) -> Bool {
        request.isDryRun || (plan.doubt != nil && request.form["unknown"] != "yes")
    }

    /// What an operation would do, with the form that does it.
    /// - Parameter confirming: the form confirms the doubt that it shows, with these fields; nil: the form before has to.
    func page(
        of plan: OperationPlan, _ request: ConsoleRequest, confirming: [(String, String)]? = nil
    ) -> ConsoleResponse {
        let isConfirmed = plan.doubt == nil || confirming != nil || request.form["unknown"] == "yes"
        let further = confirming.map { $0 + [("unknown", "yes")] } ?? []
        let replaced = Set(["token", "step"] + further.map(\.0))
        var form = ActionForm(
            id: "perform", title: "Do it", explanation: "Nothing was changed yet.", address: request.path,
            button: "Do it",
            hidden: request.form.filter { !replaced.contains($0.key) }.sorted { $0.key < $1.key } + further,
            command: nil, request)
        form.asksReason = false
        return page(
            "plan", "Dry run",
            PlanPage(
                effects: plan.effects, doubt: plan.doubt,
                form: plan.isEffective && isConfirmed ? form : nil), request)
    }

    private struct PlanPage {
        let effects: [String]
        let doubt: String?
        /// Nil where there is nothing to do, or a confirmation is missing.
        let form: ActionForm?
    }
}
