import Commands
import Storage
import TestSupport
import Testing

@testable import Devkit
@testable import Operations

struct ProcessPlanTests {
    private static func plan(counts: [ServiceKind: Int] = [:], inherited: [String: String] = [:]) -> ProcessPlan {
        ProcessPlan(
            binaries: InstalledBinaries(in: "/programs"), directory: "/line", logDirectory: "/logs",
            bootstrapServers: "b:1",
            databaseURL: "postgres://d", apiPort: 8891, counts: counts, apps: [], inherited: inherited)
    }

    @Test func `Processes of one service are numbered, a single one is not`() {
        let plan = Self.plan(counts: [.verifier: 2])
        #expect(plan.names(of: .verifier) == ["verifier-1", "verifier-2"])
        #expect(plan.names(of: .ingest) == ["ingest"])
    }

    @Test(arguments: [ServiceKind.ingest, .verifier]) func `Services without database access get no database URL`(
        kind: ServiceKind
    ) {
        let plan = Self.plan(inherited: ProcessPlan.inherited(from: ["DATABASE_URL": "postgres://secret"]))
        #expect(plan.environment(of: kind, named: "x")["DATABASE_URL"] == nil)
    }

    @Test(arguments: [ServiceKind.deduplicator, .stateUpdater]) func `Services that write state get the database URL`(
        kind: ServiceKind
    ) {
        #expect(Self.plan().environment(of: kind, named: "x")["DATABASE_URL"] == "postgres://d")
    }

    @Test func `Services are told of Apple's roots, API and the receivers' secrets as far as they need them`() {
        func names(_ kind: ServiceKind) -> Set<String> { Set(Self.plan().environment(of: kind, named: "x").keys) }
        let (roots, keys) = ("STOREKEEPER_ROOT_FILES", "STOREKEEPER_APP_STORE_API_KEYS_FILE")
        #expect(names(.verifier).intersection([roots, keys]) == [roots])
        #expect(names(.scheduler).isSuperset(of: [roots, keys, "STOREKEEPER_CANARY_INTERVAL"]))
        #expect(names(.ingest).isDisjoint(with: [roots, keys]))
        #expect(names(.webhooks).isSuperset(of: ["STOREKEEPER_WEBHOOK_KEY_FILE", "STOREKEEPER_DEVELOPMENT_MODE"]))
    }

    @Test func `Simulator of a presigned run signs ahead`() {
        var run = SimulatorRun(options: SimulatorRun.Options(count: 10), target: "http://t", plan: Self.plan())
        #expect(!run.arguments.contains("--presigned"))
        run.options.isPresigned = true
        #expect(run.arguments.contains("--presigned"))
    }

    @Test func `setup asks for the replication factor of the environment`() {
        var plan = Self.plan()
        #expect(plan.setupEnvironment["STOREKEEPER_REPLICATION_FACTOR"] == "1")
        plan.replicationFactor = "3"
        #expect(plan.setupEnvironment["STOREKEEPER_REPLICATION_FACTOR"] == "3")
    }

    @Test func `Every process has its own files and says which port it got`() {
        let plan = Self.plan(counts: [.ingest: 2])
        let first = plan.environment(of: .ingest, named: "ingest-1")
        let second = plan.environment(of: .ingest, named: "ingest-2", port: 81)
        #expect(first["STOREKEEPER_ADMIN_PORT_FILE"] != second["STOREKEEPER_ADMIN_PORT_FILE"])
        #expect(first["STOREKEEPER_INGEST_PORT_FILE"] != second["STOREKEEPER_INGEST_PORT_FILE"])
        #expect(first["STOREKEEPER_INGEST_ADDRESS"] == "127.0.0.1:0")
        #expect(second["STOREKEEPER_INGEST_ADDRESS"] == "127.0.0.1:81")
    }

    @Test func `Kafka settings and the log level are handed on, what configures one service is not`() {
        let inherited = ProcessPlan.inherited(from: [
            "KAFKA_LINGER_MS": "1", "STOREKEEPER_LOG_LEVEL": "debug", "STOREKEEPER_INGEST_ADDRESS": "0.0.0.0:80",
            "PATH": "/bin",
        ])
        #expect(inherited == ["KAFKA_LINGER_MS": "1", "STOREKEEPER_LOG_LEVEL": "debug", "PATH": "/bin"])
    }

    @Test func `Shell is told what the other commands need, and finds the programs of this run first`() async throws {
        let place = try TemporaryDirectory()
        var plan = Self.plan(inherited: ["PATH": "/bin"])
        plan.directory = place.path
        plan.databaseRoles = [.operator]
        try plan.writeOperatorFile()
        let shell = try await Spawner().start(
            "sh", program: "/bin/sh",
            arguments: [
                "-c",
                ". '\(plan.operatorFile)'; echo \"$DATABASE_URL $PGOPTIONS\"; echo \"$PATH\"",
            ],
            environment: ["PATH": "/own"], log: place.path + "/log")
        _ = await shell.ending()
        #expect(shell.logTail() == "postgres://d -c role=storekeeper_operator\n/programs:/own")
    }

    @Test func `Shell is told also which broker this one was given from outside`() throws {
        let place = try TemporaryDirectory()
        var plan = Self.plan(inherited: [
            "KAFKA_BOOTSTRAP_SERVERS": "b:1", "KAFKA_SECURITY_PROTOCOL": "SSL", "PGSSLMODE": "require", "PATH": "/bin",
        ])
        plan.directory = place.path
        try plan.writeOperatorFile()
        let lines = try String(contentsOfFile: plan.operatorFile, encoding: .utf8).split(separator: "\n")
        #expect(lines.contains("export KAFKA_BOOTSTRAP_SERVERS='b:1'"))
        #expect(lines.contains("export KAFKA_SECURITY_PROTOCOL='SSL'"))
        #expect(lines.contains("export PGSSLMODE='require'"))
        #expect(lines.filter { $0.contains("PATH") } == ["export PATH='/programs':\"$PATH\""])
    }

    @Test func `Each service acts as the role of its kind, where the database has it`() {
        var plan = Self.plan(inherited: ["PGOPTIONS": "-c jit=off"])
        #expect(plan.environment(of: .scheduler, named: "x")["PGOPTIONS"] == "-c jit=off")
        plan.databaseRoles = Set(Grants.Role.allCases)
        for (kind, role) in [
            (ServiceKind.deduplicator, "deduplicator"), (.stateUpdater, "state_updater"), (.recovery, "recovery"),
        ] {
            #expect(plan.environment(of: kind, named: "x")["PGOPTIONS"] == "-c jit=off -c role=storekeeper_\(role)")
        }
        plan.inherited = [:]
        #expect(plan.environment(of: .scheduler, named: "x")["PGOPTIONS"] == "-c role=storekeeper_scheduler")
        #expect(plan.operatorEnvironment["PGOPTIONS"] == "-c role=storekeeper_operator")
        for kind in [ServiceKind.ingest, .verifier] {
            #expect(plan.environment(of: kind, named: "x")["PGOPTIONS"] == nil)
        }
    }
}
