import AppStore
import AsyncHTTPClient
import Bootstrap
import Chassis
import Commands
import Foundation
import Postgres
import ServerAPI
import Storage

/// The checks of `storekeeper doctor`, in the order in which they depend on each other.
struct Examination: Sendable {
    private static let page = "Documentation/ConnectApple.md"

    let doctor: Doctor
    let context: CommandContext

    func findings() async throws -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        let settings: Settings<AppleOptions.Variables>
        do { settings = try doctor.apple.settings(in: context) } catch let problems as ConfigurationProblems {
            return problems.problems.map {
                .failed("configuration", "\($0)", "set it; \(Self.page) has an example of each file")
            }
        }
        let trust: TrustSettings
        do {
            trust = try TrustSettings(
                apps: settings.apps, roots: settings.roots ?? [], developmentMode: settings.developmentMode)
        } catch {
            return error.problems.map { .failed("apps and roots", "\($0)", "\(Self.page) has an example of the file") }
        }
        findings.append(.ok("apps", "\(settings.apps) names \(Self.names(trust.apps))"))
        findings.append(roots(settings))
        findings += keys(settings, trust.apps)
        findings += try await clocks(settings)
        findings.append(await address())
        findings += try await notifications(trust.apps)
        return findings
    }

    private static func names(_ registry: AppRegistry) -> String {
        registry.all.map { app in
            "\(app.bundleId) (\(app.environments.map(\.rawValue).sorted().joined(separator: ", ")))"
        }.sorted().joined(separator: ", ")
    }

    private func roots(_ settings: Settings<AppleOptions.Variables>) -> DoctorFinding {
        let files = settings.roots ?? []
        if settings.developmentMode {
            return .warning(
                "root certificates",
                "development mode: everyone with the keys of \(files.joined(separator: ", ")) can sign free purchases",
                "leave out STOREKEEPER_DEVELOPMENT_MODE and STOREKEEPER_ROOT_FILES in production")
        }
        let further = files.isEmpty ? "" : ", and those of \(files.joined(separator: ", "))"
        return .ok("root certificates", "Apple Root CA - G3, which is built in\(further)")
    }

    private func keys(_ settings: Settings<AppleOptions.Variables>, _ apps: AppRegistry) -> [DoctorFinding] {
        let file: APIKeysFile
        do throws(APIKeysFileFault) { file = try APIKeysFile(contentsOf: settings.keys, apps: apps) } catch {
            return error.problems.map {
                .failed(
                    "API keys", $0, "\(Self.page) says where App Store Connect shows issuer id, key id and the .p8 file"
                )
            }
        }
        var findings = file.warnings.map { DoctorFinding.warning("API keys", $0, "change the mode of the file") }
        for app in apps.all.map(\.bundleId).sorted() {
            findings.append(
                file.credentials[app] != nil
                    ? .ok("API key of \(app)", "readable; whether Apple accepts it, the test notification shows")
                    : .warning(
                        "API key of \(app)",
                        "there is none: Apple's history of it is not asked, and nothing is recovered",
                        "make one in App Store Connect and add it to \(settings.keys); \(Self.page) says how"))
        }
        return findings
    }

    private func clocks(_ settings: Settings<AppleOptions.Variables>) async throws -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        do {
            let connection = try doctor.database.connection(for: "doctor", in: context)
            let difference = try await ServerClock.difference(connection, now: { Date() })
            await connection.close()
            findings.append(
                ServerClock.sentence(difference).map {
                    .failed("clock", $0, "run a time service (chrony, systemd-timesyncd) on both machines")
                } ?? .ok("clock", "within \(Int(ServerClock.tolerance)) s of the database's"))
        } catch let error as PostgresError {
            findings.append(.failed("database", "\(error)", "start Postgres, or correct DATABASE_URL"))
        } catch let problems as ConfigurationProblems {
            findings += problems.problems.map { .failed("database", "\($0)", "set it as the services have it") }
        }
        guard settings.url == nil else {
            return findings + [.notChecked("clock of Apple", "the API is a simulated one, at \(settings.url ?? "")")]
        }
        let host = "https://api.storekit.apple.com/"
        do {
            let answer = try await HTTPClient.shared.execute(HTTPClientRequest(url: host), timeout: .seconds(10))
            let difference = answer.headers.first(name: "date").flatMap(Self.date).map { $0.timeIntervalSince(Date()) }
            guard let difference else { return findings + [.notChecked("clock of Apple", "its answer has no date")] }
            findings.append(
                abs(difference) < 30
                    ? .ok("clock of Apple", "within 30 s of this machine's")
                    : .failed(
                        "clock of Apple",
                        "\(Int(difference)) s from this machine's, and Apple rejects tokens of such a clock",
                        "run a time service (chrony, systemd-timesyncd)"))
        } catch {
            findings.append(
                .failed(
                    "Apple's API", "\(host) cannot be reached: \(error)", "let this machine reach Apple by HTTPS (443)")
            )
        }
        return findings
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func date(_ text: String) -> Date? {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = .gmt
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return format.date(from: text)
    }

    private func address() async -> DoctorFinding {
        guard let url = doctor.url else {
            return .notChecked(
                "URL", "--url names the one that App Store Connect has; without it the test notification shows")
        }
        return await Self.finding(at: url)
    }

    static func finding(at url: String) async -> DoctorFinding {
        let isLocal = ["127.0.0.1", "localhost", "::1"].contains(URL(string: url)?.host ?? "")
        guard url.hasPrefix("https:") || isLocal else {
            return .failed(
                "URL", "\(url) is without TLS, and Apple posts to HTTPS alone",
                "give TLS to a proxy before ingest: Deploy/compose/tls.yml does, and \(Self.page) says how")
        }
        do {
            let page = try await HTTPPage(at: url, within: .seconds(10))
            return finding(of: page.status, at: url)
        } catch {
            guard await !answersWithoutTLS(url) else {
                return .failed(
                    "URL", "the port of \(url) answers without TLS, and Apple posts to HTTPS alone",
                    "give TLS to a proxy before ingest: Deploy/compose/tls.yml does, and \(Self.page) says how; ingest itself "
                        + "is asked on its machine with --url http://127.0.0.1:PORT/v1/notifications")
            }
            return .failed(
                "URL", "\(url) cannot be reached from here: \(error)",
                "check name, firewall (Apple posts from 17.0.0.0/8), certificate and load balancer")
        }
    }

    /// A port with TLS answers to a request without it 400, or nothing.
    private static func answersWithoutTLS(_ url: String) async -> Bool {
        guard var plain = URLComponents(string: url), plain.scheme == "https" else { return false }
        (plain.scheme, plain.port) = ("http", plain.port ?? 443)
        guard let url = plain.string, let page = try? await HTTPPage(at: url, within: .seconds(10)) else {
            return false
        }
        return page.status != 400
    }

    /// Ingest answers 405 to GET: then name, port, TLS and path are right, and nothing was stored. A proxy that lets only Apple post answers
    /// 403 to everything else, which may be right.
    static func finding(of status: Int, at url: String) -> DoctorFinding {
        switch status {
        case 405: .ok("URL", "ingest answers at \(url)")
        case 403:
            .warning(
                "URL",
                "\(url) answered 403 to this machine, as the shipped HAProxy does to all but Apple and private addresses",
                "run this on the machine of the proxy; that Apple may post, the test notification shows")
        default:
            .failed(
                "URL", "\(url) answered \(status) to GET, and ingest answers 405",
                "forward the path /v1/notifications unchanged to ingest, without a login before it")
        }
    }

    private func notifications(_ apps: AppRegistry) async throws -> [DoctorFinding] {
        guard doctor.testNotifications else {
            return [.notChecked("test notifications", "left out by --no-test-notifications")]
        }
        let ledger: NotificationStore
        do { ledger = NotificationStore(try doctor.database.connection(for: "doctor", in: context)) } catch {
            return [.notChecked("test notifications", "there is no database in which they could arrive")]
        }
        var findings: [DoctorFinding] = []
        do {
            try await doctor.apple.withClients(in: context) { clients in
                for client in clients.all where doctor.apple.isChosen(client) {
                    findings.append(try await test(client, ledger))
                }
            }
        } catch let problems as ConfigurationProblems {
            // Said above, file by file.
            return findings + [.notChecked("test notifications", "\(problems)")]
        }
        guard findings.isEmpty else { return findings }
        let known = Self.names(apps)
        return [
            .failed(
                "test notifications", "none was requested: no app with an API key is chosen",
                "choose one of \(known) with --app and --environment, and give it a key in the file of API keys")
        ]
    }

    private static func remedy(_ error: APIError) -> String {
        if error.code == .serverNotificationURLNotFound {
            return
                "enter the URL in App Store Connect: the app, App Information, App Store Server Notifications, version 2"
        }
        guard case .unauthorized = error else {
            return "run this again in some minutes; if it stays, let this machine reach Apple by HTTPS (443)"
        }
        return
            "compare issuer id, key id and .p8 file with App Store Connect: Users and Access, Integrations, In-App Purchase"
    }

    private func test(_ client: AppStoreServerAPI, _ ledger: NotificationStore) async throws -> DoctorFinding {
        let subject = "test notification of \(client.app.bundleId), \(client.environment.rawValue)"
        do {
            let progress = try await TestNotificationProgress.following(
                client, to: ledger, within: doctor.timeout.duration, now: context.now, telling: { _ in })
            guard let recordedAt = progress.recordedAt else {
                return .failed(subject, progress.diagnosis, "the step that failed is named; \(Self.page) has each")
            }
            return .ok(subject, "requested, sent and stored in the ledger at \(recordedAt.text)")
        } catch let error as APIError {
            return .failed(
                subject, "\(error)",
                Self.remedy(error))
        } catch let error as PostgresError {
            return .failed(subject, "the ledger cannot be read: \(error)", "start Postgres, or correct DATABASE_URL")
        }
    }
}
