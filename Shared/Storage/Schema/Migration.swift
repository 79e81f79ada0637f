/// One schema migration from `Migrations/`, embedded in the binary so that no file is needed at run time.
public struct Migration: Sendable, Equatable {
    /// The number at the start of its file name.
    public let version: Int32
    /// The rest of the file name.
    public let name: String
    let sql: [UInt8]

    init(_ version: Int32, _ name: String, _ sql: [UInt8]) {
        self.version = version
        self.name = name
        self.sql = sql
    }

    /// All migrations, in order. A released migration is never edited; a later one corrects it.
    public static let all = [
        Migration(1, "pipeline", PackageResources._001_pipeline_sql),
        Migration(2, "ledger", PackageResources._002_ledger_sql),
        Migration(3, "state", PackageResources._003_state_sql),
        Migration(4, "customers", PackageResources._004_customers_sql),
        Migration(5, "coverage", PackageResources._005_coverage_sql),
        Migration(6, "recovery", PackageResources._006_recovery_sql),
        Migration(7, "insight", PackageResources._007_insight_sql),
        Migration(8, "api", PackageResources._008_api_sql),
        Migration(9, "console", PackageResources._009_console_sql),
        Migration(10, "erasure", PackageResources._010_erasure_sql),
        Migration(11, "webhooks", PackageResources._011_webhooks_sql),
        Migration(12, "refunds", PackageResources._012_refunds_sql),
        Migration(13, "figures", PackageResources._013_figures_sql),
        Migration(14, "months", PackageResources._014_months_sql),
        Migration(15, "losses", PackageResources._015_losses_sql),
        Migration(16, "edges", PackageResources._016_edges_sql),
        Migration(17, "rescissions", PackageResources._017_rescissions_sql),
        Migration(18, "relays", PackageResources._018_relays_sql),
        Migration(19, "apps_and_tokens", PackageResources._019_apps_and_tokens_sql),
        Migration(20, "comparisons", PackageResources._020_comparisons_sql),
        Migration(21, "rates", PackageResources._021_rates_sql),
        Migration(22, "claims_and_answers", PackageResources._022_claims_and_answers_sql),
        Migration(23, "arrivals_and_credits", PackageResources._023_arrivals_and_credits_sql),
        Migration(24, "conversions", PackageResources._024_conversions_sql),
        Migration(25, "extensions", PackageResources._025_extensions_sql),
    ]
}
