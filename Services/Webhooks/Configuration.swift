import Bootstrap
import Chassis
import Pipeline
import WebhookDelivery

/// The environment variables of the service.
struct Configuration: WorkerVariables, DatabaseVariables {
    let brokers = Variable.kafkaBrokers
    let database = Variable.databaseURL
    let databasePasswordFile = Variable.databasePasswordFile
    let schema = Variable.databaseSchema
    let key = Variable.webhookKey
    let networks = Variable<[String]>.list(
        "STOREKEEPER_WEBHOOK_NETWORKS",
        "ranges of private addresses to which webhooks may be sent, such as 10.1.0.0/16; public addresses are always "
            + "allowed"
    ).optional
    let proxy = Variable<String>.string(
        "STOREKEEPER_WEBHOOK_PROXY",
        "host:port of an HTTP proxy through which all webhooks are sent; it then decides which addresses are allowed"
    ).optional
    let developmentMode = Variable.bool(
        "STOREKEEPER_DEVELOPMENT_MODE",
        "send webhooks to receivers on this machine, also by http://; never in production",
        default: "false")
    let batch = Variable.batchLimit
    let rejectionRun = Variable.rejectionRun
    let rejectionRatio = Variable.rejectionRatio
    let recordKeys = Variable.recordKeys
    let kafkaSettings = Variable.kafkaSettings

    func problems(in settings: Settings<Configuration>) -> [ConfigurationProblem] {
        var problems = settings.workerProblems
        for range in settings.networks ?? [] where NetworkRange(range) == nil {
            problems.append(
                .unusable(
                    name: "STOREKEEPER_WEBHOOK_NETWORKS",
                    reason: "holds “\(range)”, which is no range such as 10.1.0.0/16 or fd00:1::/32"))
        }
        if let proxy = settings.proxy, ListenAddress(proxy) == nil {
            problems.append(
                .unusable(name: "STOREKEEPER_WEBHOOK_PROXY", reason: "is no host:port such as proxy.example:3128"))
        }
        do throws(ConfigurationProblems) {
            _ = try WebhookSecrets(file: settings.key)
        } catch {
            problems += error.problems
        }
        return problems
    }
}

extension Settings where Table == Configuration {
    /// How receivers are reached.
    var connections: ConnectionSettings {
        ConnectionSettings(
            rules: AddressRules(
                allowed: (self.networks ?? []).compactMap { NetworkRange($0) }, allowsLoopback: self.developmentMode),
            allowsPlain: self.developmentMode,
            proxy: self.proxy.flatMap { ListenAddress($0) }.map { ($0.host, $0.port) })
    }
}
