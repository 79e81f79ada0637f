import ArgumentParser
import AsyncHTTPClient
import Chassis
import Contracts
import Foundation

/// `simulator run`: simulates purchases and posts a notification for each of their events.
struct RunCommand: SimulatorWork {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Simulate purchases and post their notifications.",
        discussion: """
            With --api-address it also answers the App Store Server API about what it sent: history, statuses, test \
            notifications and the rest. The same address has GET /simulator/progress (what was sent so far), GET \
            /simulator/customers (ids to ask about), /simulator/purchases, /simulator/products and /simulator/clock (what `simulator buy` and \
            `simulator trigger` use), GET, POST and DELETE /simulator/faults (see --api-fault), and GET and \
            POST /simulator/keys, DELETE /simulator/keys/KEYID (key rotation).

            Examples:
              simulator run --target URL --authority authority --environment Production --count 20000
              simulator run --target URL --authority authority --count 0 --rate 20 --api-address 127.0.0.1:8891
              simulator run --target URL --authority authority --app com.example.a:1:Production --app com.example.b:2:Sandbox
            """)

    @Option(help: "URL that receives notifications, e.g. http://127.0.0.1:8080/v1/notifications")
    var target: String

    @Option(help: "File to append the run record to: each notification, attempt and upload (JSON lines).")
    var record: String?

    @Option(help: "Timeout of an attempt, seconds.")
    var timeout = 5.0

    @Option(help: #"URL that answers {"waiting": N}; sending pauses while N is --max-waiting or more."#)
    var paceURL: String?

    @Option(help: "Limit for --pace-url.")
    var maxWaiting = 4_000

    @Option(help: "File by which other processes follow the clock that `simulator clock advance` moves.")
    var clockFile: String?

    @Option(
        help: """
            File with apps and products of your own: {"apps": [{"bundleId", "appAppleId", "environments", "products": [\
            {"productId", "type", "subscriptionGroupIdentifier", "level", "period", "price"}]}]}. No random customer buys in them.
            """)
    var catalogue: String?

    @Flag(help: "Print the summary as JSON.")
    var json = false

    @OptionGroup(title: "Uploads")
    var uploads: UploadOptions

    @OptionGroup(title: "The App Store Server API")
    var api: APIOptions

    @OptionGroup(title: "The run")
    var options: RunOptions

    @OptionGroup(title: "The signatures")
    var signing: SigningOptions

    func validate() throws {
        try Target.validate(target, as: "--target")
        if let paceURL { try Target.validate(paceURL, as: "--pace-url") }
        if timeout <= 0 { throw ValidationError("--timeout must be above 0") }
        if !options.randomPurchases, api.address == nil {
            throw ValidationError("--no-random-purchases needs --api-address: nothing could be ordered without it")
        }
    }

    func run(in context: CommandContext) async throws {
        let catalogue = try ownCatalogue()
        var plan = try options.plan(for: signing.apps(with: catalogue))
        plan.catalogue = catalogue
        if plan.apps.allSatisfy(catalogue.isOwn) {
            guard api.address != nil else {
                throw SimulatorError(
                    "no random customer buys in the apps of --catalogue: give --api-address, so that you can")
            }
            plan.hasRandomPurchases = false
        }
        plan.uploads = uploads.plan
        let file = try clockFile.map { try DevelopmentClock(file: $0) }
        let clock = SimulatedClock(base: context.now, file: file)
        let now = options.present(on: clock.now)
        let signer = try signing.notificationSigner(now: context.now())
        let recordWriter = try record.map { try RunRecordWriter(path: $0) }
        let client = Target.client(concurrency: plan.concurrency)
        let backlog = paceURL.map { Backlog(client: client, url: $0, limit: maxWaiting) }
        plan.isOpenEnded = api.hostAndPort != nil
        // Apple's history is kept anyway; waiting retries take little more.
        if plan.isOpenEnded { plan.retryLimit = max(plan.retryLimit, api.remember) }
        var simulate = Simulate(
            plan: plan, signer: signer, target: Target(client: client, url: target, timeout: .seconds(timeout)),
            record: recordWriter, backlog: backlog, stop: context.stop, present: now, now: clock.now)
        if !json { simulate.tell = Self.tell }
        if let url = uploads.url {
            simulate.uploadTarget = UploadTarget(
                target: Target(client: client, url: url, timeout: .seconds(timeout)), keys: try uploads.tokens())
        }
        let result: Result<Tally, any Error>
        do {
            let movable = options.now == nil ? clock : nil
            result = .success(try await run(simulate, movable, timeOfDay: context.now))
        } catch { result = .failure(error) }
        try await client.shutdown()
        try recordWriter?.close()
        let tally = try result.get()
        print(json ? try tally.json() : tally.sentence)
        if !json, let access = tally.expectedAccess {
            print("\nExpected access:")
            for (purchase, periods) in access.sorted(by: { $0.key < $1.key }) {
                for period in periods.isEmpty ? ["none"] : periods { print("\(purchase)  \(period)") }
            }
        }
        // With an API, a notification whose retries are exhausted can still be fetched from history.
        if tally.givenUp > 0, !plan.isOpenEnded { throw ExitCode.failure }
    }

    @Sendable private static func tell(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data("\(line)\n".utf8))
    }

    private func ownCatalogue() throws -> Catalogue {
        guard let path = catalogue else { return Catalogue() }
        guard let json = FileManager.default.contents(atPath: path) else {
            throw SimulatorError("\(path) cannot be read: give a file with apps and their products")
        }
        do { return try Catalogue(json: Array(json)) } catch { throw SimulatorError("\(path): \(error)") }
    }

    private func run(
        _ simulate: Simulate, _ clock: SimulatedClock?, timeOfDay: @escaping @Sendable () -> Date
    ) async throws -> Tally {
        guard let (host, port) = api.hostAndPort else { return try await simulate.run() }
        let deliveryService = DeliveryService(Outbox(plan: simulate.plan, now: simulate.present()))
        let historyStore = HistoryStore(limit: api.remember)
        let files = KeyFiles(
            directory: URL(fileURLWithPath: signing.authority, isDirectory: true), apps: simulate.plan.apps)
        let given = try api.keys.map { text in
            try AcceptedKey(describedBy: text) { try String(contentsOfFile: $0, encoding: .utf8) }
        }
        let keys = KeyRing(try given.isEmpty ? files.loadOrCreate() : given)
        let faults = try api.faultList(now: simulate.now())
        let store = StoreAPI(
            apps: simulate.plan.apps, historyStore: historyStore, deliveryService: deliveryService,
            signer: simulate.signer, keys: keys,
            limits: RateLimits(scale: api.limitScale), faults: faults, answers: RefundAnswers(record: simulate.record),
            retention: RetentionMessageContents(review: RetentionReview(seed: simulate.plan.seed)),
            tokenLife: api.tokenLife,
            present: simulate.present, now: simulate.now, timeOfDay: timeOfDay, refused: Self.tell)
        let control = ServerControl(
            historyStore: historyStore, deliveryService: deliveryService, keys: keys,
            keyFiles: given.isEmpty ? files : nil, faults: faults,
            purchases: PurchaseControl(
                apps: simulate.plan.apps, catalogue: simulate.plan.catalogue, historyStore: historyStore,
                deliveryService: deliveryService,
                signer: simulate.signer, keys: keys, present: simulate.present, now: simulate.now, clock: clock),
            now: simulate.now)
        var simulate = simulate
        simulate.historyStore = historyStore
        simulate.deliveryService = deliveryService
        return try await ServedRun(
            simulate: simulate, server: StoreServer(api: store, control: control), host: host, port: port,
            portFile: api.portFile
        ).run()
    }
}
