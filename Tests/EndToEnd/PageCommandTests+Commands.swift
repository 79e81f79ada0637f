extension EndToEnd.PageCommandTests {
    /// Commands of pages with values for what the pages leave to the reader, or with the exit code that they have here.
    static let completed: [String: String] = [
        "cat DIR/verifier.admin-port": #"cat "$KEPT/verifier.admin-port""#,
        "chmod 600 AuthKey_ABC123DEFG.p8": "touch AuthKey_ABC123DEFG.p8 && chmod 600 AuthKey_ABC123DEFG.p8",
        "chmod 640 keys/*.p8": "mkdir -p keys && touch keys/a.p8 && chmod 640 keys/*.p8",
        "cat exports/*.csv > all.csv":
            "mkdir exports && storekeeper simulator export exports/a.csv --shape adapty --environment Production && cat exports/*.csv > all.csv",
        "cat fullchain.pem privkey.pem >certificate.pem":
            "touch fullchain.pem privkey.pem && cat fullchain.pem privkey.pem >certificate.pem",
        // With all that it needs it runs at the end of Deploy/run --count.
        "devkit check": "devkit check --help",
        "create user recovery in role storekeeper_recovery …":
            #"PGOPTIONS= sql "create user recovery in role storekeeper_recovery password 'test'""#,
        "openssl speed ecdsap256": "openssl speed -seconds 1 ecdsap256",
        // Postgres' own programs, with the rights of the server's owner.
        "pg_basebackup --pgdata … --write-recovery-conf --wal-method=stream": #"""
        PGOPTIONS= pg_basebackup --pgdata replica --write-recovery-conf --wal-method=stream --checkpoint=fast --no-sync \
            --dbname "$DATABASE_URL"
        [ -e replica/standby.signal ] && rm -r replica
        """#,
        "pg_dumpall --roles-only":
            #"PGOPTIONS= pg_dumpall --roles-only --dbname "$DATABASE_URL" | grep -F 'CREATE ROLE storekeeper_recovery;'"#,
        #"psql -h REPLICA -c "alter system reset synchronous_standby_names" -c "select pg_reload_conf()""#:
            #"PGOPTIONS= psql -X -h 127.0.0.1 -d "$DATABASE_URL" -c "alter system reset synchronous_standby_names" -c "select pg_reload_conf()""#,
        "setup --check":
            #"env -i PATH="$PATH" DATABASE_URL="$DATABASE_URL" KAFKA_BOOTSTRAP_SERVERS="$KAFKA_BOOTSTRAP_SERVERS" STOREKEEPER_REPLICATION_FACTOR=1 setup --check"#,
        "simulator buy": #"simulator buy premium.monthly --account "$ACCOUNT""#,
        "simulator buy PRODUCT --account TOKEN": #"simulator buy coins.100 --account "$ACCOUNT""#,
        "simulator export FILE": "simulator export adapty.csv --shape adapty --environment Production",
        "simulator purchases [ID]": #"simulator purchases "$PURCHASE""#,
        "simulator trigger TYPE [SUBTYPE] --account TOKEN": #"simulator trigger REFUND --account "$ACCOUNT""#,
        "storekeeper acls --servers … --principal-prefix User:CN=storekeeper- --command-config …":
            "storekeeper acls --servers localhost:9092 --principal-prefix User:CN=storekeeper- --command-config admin.properties",
        "storekeeper backfill": backfill,
        "storekeeper backfill customers --app com.example.app --environment Production": backfill,
        "storekeeper backfill FILE --app com.example.app --environment Production": backfill,
        // The simulator's customers buy on while the file is written, and nothing was compared on the days before.
        "storekeeper compare export.csv.gz --app com.example.app --environment Production":
            "storekeeper compare export.csv.gz --app com.example.app --environment Production || [ $? -eq 1 ]",
        "storekeeper compare":
            "storekeeper compare export.csv.gz --app com.example.app --environment Production || [ $? -eq 1 ]",
        // With all that it needs it runs for the page Move.
        "storekeeper compare ask": "storekeeper compare ask --help",
        // The simulator answers as the other system from the export that was made before.
        "storekeeper compare ask ids.txt --system revenuecat --key-file revenuecat.key --app com.example.app": #"""
        gunzip -c export.csv.gz | tail -n +2 | cut -d, -f2 | sort -u | awk 'NR <= 50' >ids.txt
        echo sk_1 >revenuecat.key
        storekeeper compare ask ids.txt --system revenuecat --key-file revenuecat.key --app com.example.app --rate 100 \
            --url "$SIMULATOR_URL/other-system/revenuecat"
        """#,
        "storekeeper compare ids.txt.answers.csv --app com.example.app":
            "storekeeper compare ids.txt.answers.csv --app com.example.app --environment Production || [ $? -eq 1 ]",
        "storekeeper compare report": "storekeeper compare report --app com.example.app || [ $? -eq 1 ]",
        "storekeeper compare report --app com.example.app --days 14":
            "storekeeper compare report --app com.example.app --days 14 || [ $? -eq 1 ]",
        "storekeeper console login --as NAME --role admin": "storekeeper console login --as ann --role admin",
        "storekeeper coverage --from": "storekeeper coverage --from 7d",
        "storekeeper customers choose":
            #"storekeeper customers choose --app com.example.app --environment Production "$ACCOUNT" --dry-run"#,
        "storekeeper customers balance":
            #"storekeeper customers balance --app com.example.app --environment Production "$ACCOUNT""#,
        "storekeeper customers erase":
            #"storekeeper customers erase --app com.example.app --environment Production "$ACCOUNT" --dry-run"#,
        "storekeeper customers policy": "storekeeper customers policy --app com.example.app",
        "storekeeper customers policy … --most-accounts":
            "storekeeper customers policy firstWins --app com.example.app --environment Sandbox --most-accounts 20 --dry-run",
        "storekeeper dead-letters dismiss": #"storekeeper dead-letters dismiss "$DEAD" --note test"#,
        "storekeeper dead-letters replay": #"storekeeper dead-letters replay "$DEAD" --note test"#,
        "storekeeper dead-letters replay --all --reason REASON":
            "storekeeper dead-letters replay --all --reason signature --dry-run",
        // It was altered, which is exit code 1.
        "storekeeper dead-letters show 3/17 --original | storekeeper verify -":
            #"(storekeeper dead-letters show "$DEAD" --original | storekeeper verify - 2>&1 || [ $? -eq 1 ]) | grep signature"#,
        "storekeeper doctor": "storekeeper doctor --no-test-notifications",
        "storekeeper doctor --url https://storekeeper.example.com/v1/notifications":
            #"storekeeper doctor --url "$INGEST/v1/notifications""#,
        "storekeeper entitlements": #"storekeeper entitlements "$ACCOUNT" --environment Production"#,
        "storekeeper events purchase": #"storekeeper events purchase "$PURCHASE""#,
        "storekeeper events show": #"storekeeper events show "$EVENT""#,
        "storekeeper events timeline": #"storekeeper events timeline "$PURCHASE""#,
        "storekeeper healthcheck http://HOST:9101/readyz": healthcheck,
        "storekeeper healthcheck http://HOST:PORT/readyz": healthcheck,
        "storekeeper healthcheck http://127.0.0.1:PORT/readyz": healthcheck,
        "storekeeper help COMMAND": "storekeeper help status",
        "storekeeper import":
            "storekeeper import export.csv.gz --app com.example.app --environment Production --dry-run",
        // Exit code 1: another customer has the purchase of a row.
        "storekeeper import export.csv.gz --app com.example.app --environment Production --progress com.example.app.progress":
            "storekeeper import export.csv.gz --app com.example.app --environment Production --progress com.example.app.progress || [ $? -eq 1 ]",
        "storekeeper insight purchases REPORT": "storekeeper insight purchases revenue --app com.example.app",
        "storekeeper insight rates load":
            "echo 2026-01-02,EUR,1.17 >rates.csv && storekeeper insight rates load rates.csv --into USD --source test",
        "storekeeper insight rebuild": "storekeeper insight rebuild --note test",
        "storekeeper insight show REPORT": """
        for report in mrr movements churn retention trials revenue proceeds; do
            storekeeper insight show $report --app com.example.app
        done
        """,
        "storekeeper insight small-business set":
            "storekeeper insight small-business set --app com.example.app --since 2026-01-01",
        "storekeeper insight taxes load":
            "echo DEU,2026-01-01,19 >taxes.csv && storekeeper insight taxes load taxes.csv --source test",
        "storekeeper keys create":
            "storekeeper keys create --name next --environment Sandbox --app com.example.app --scope entitlements:read",
        "storekeeper keys revoke": #"""
        LAST=$(storekeeper keys create --name last --environment Sandbox --app com.example.app --scope entitlements:read --json |
            grep -oE '[0-9a-f-]{36}')
        storekeeper keys revoke "$LAST" --note test
        """#,
        "storekeeper offsets reset": "storekeeper offsets reset --dry-run",
        "storekeeper products levels": "storekeeper products levels --app com.example.app",
        "storekeeper products durations": "storekeeper products durations --app com.example.app",
        // The right to create a schema, which operators do not have.
        "storekeeper rebuild": "PGOPTIONS= storekeeper rebuild",
        "storekeeper rebuild --repair": "PGOPTIONS= storekeeper rebuild --repair --dry-run",
        "storekeeper rebuild --repair --dry-run": "PGOPTIONS= storekeeper rebuild --repair --dry-run",
        "storekeeper recover": "storekeeper recover --from 1h",
        "storekeeper recover --from": "storekeeper recover --from 1h",
        "storekeeper recover --from … --to …": "storekeeper recover --from 1h --to 1m",
        "storekeeper refunds outcomes":
            "storekeeper refunds outcomes --app com.example.app --environment Sandbox",
        "storekeeper simulator": "storekeeper simulator products",
        "storekeeper simulator trigger":
            #"storekeeper simulator trigger DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED --account "$ACCOUNT""#,
        // Exit code 2: something needs attention.
        "storekeeper status": "storekeeper status || [ $? -eq 2 ]",
        "storekeeper test-notification":
            "storekeeper test-notification --app com.example.app --environment Sandbox",
        "storekeeper test-notification --app BUNDLE --environment ENVIRONMENT":
            "storekeeper test-notification --app com.example.app --environment Production",
        "storekeeper verify FILE":
            #"storekeeper simulator purchases "$PURCHASE" --signed >signed && storekeeper verify signed"#,
        "storekeeper webhooks deliveries ID --state given-up":
            #"storekeeper webhooks deliveries "$ENDPOINT" --state given-up"#,
        "storekeeper webhooks deliveries ID --state waiting":
            #"storekeeper webhooks deliveries "$ENDPOINT" --state waiting"#,
        "storekeeper webhooks listen": "storekeeper webhooks listen --help",
        // Ends after a change, which comes because a customer buys on; no receiver answers.
        #"storekeeper webhooks listen --api "$API" --key-file key --secret "$SECRET" --forward http://127.0.0.1:3000/hook"#:
            #"""
        SECRET="whsec_$(openssl rand -base64 32)"
        echo "$KEY" >key
        while storekeeper simulator buy coins.100; do :; done >bought 2>&1 &
        trap 'kill $!' EXIT
        storekeeper webhooks listen --api "$API" --key-file key --secret "$SECRET" \
            --forward http://127.0.0.1:9/hook --count 1
        """#,
        "storekeeper webhooks replay": #"storekeeper webhooks replay "$ENDPOINT" --from 2h --dry-run"#,
        "storekeeper webhooks resume":
            #"storekeeper webhooks pause "$ENDPOINT" && storekeeper webhooks resume "$ENDPOINT" --yes"#,
        "storekeeper webhooks replay ID --from 40d":
            #"storekeeper webhooks replay "$ENDPOINT" --from 40d --dry-run"#,
        "storekeeper webhooks replay ID --sequence N":
            #"storekeeper webhooks replay "$ENDPOINT" --sequence 1 --dry-run"#,
        "storekeeper webhooks resume ID":
            #"storekeeper webhooks pause "$ENDPOINT" && storekeeper webhooks resume "$ENDPOINT" --yes"#,
        "storekeeper webhooks show ID": #"storekeeper webhooks show "$ENDPOINT""#,
    ]

    static let backfill =
        #"echo "$PURCHASE" >customers && storekeeper backfill customers --app com.example.app --environment Production"#
    static let healthcheck =
        #"storekeeper healthcheck "http://127.0.0.1:$(cat "$KEPT/ingest.admin-port")/readyz""#

    /// Commands that begin like this do not run here.
    static let leftOut: KeyValuePairs<String, String> = [
        "docker ": "needs a container engine; Deploy/checks/compose runs docker-compose.yml",
        "kubectl ": "needs a cluster; Deploy/checks/kubernetes checks what the manifests say",
        "helm ": "needs a cluster; Deploy/checks/kubernetes compares the chart with the manifests",
        "kafka-": "Kafka's own tools, for a broker that is not embedded; Deploy/checks/restore resets offsets",
        "psql -h REPLICA -c 'select pg_promote()'": "needs a replica; Deploy/checks/faults promotes one",
        "pg_ctl ": "stops the server; Deploy/checks/faults does",
        "chronyc ": "shows the time service of a machine",
        "openssl verify": "what a test compares with",
        "openssl pkeyutl ": "needs a release; Deploy/checks/releases --self-test runs it",
        "sha256sum ": "needs a release; Deploy/checks/releases --self-test runs it",
        "cosign ": "needs a release, or a registry, and a program that Debian does not have",
        "STOREKEEPER_CONSOLE_URL=": "starts a console; dev starts one",
        "git ": "publishes",
        "swift ": "changes the sources",
        "storekeeper dev": "all other commands run beside it",
        "npx ": "a generator of clients",
        "openapi-": "generators of clients; Deploy/checks/examples runs the one for Python",
        "simulator run ": "another simulator; ServedRunTests starts it",
        "simulator ocsp ": "serves until it is stopped; OCSPCommandTests starts it",
        "sudo ": "needs root",
        "storekeeper offsets begin":
            "needs a broker that finds records by their time, and no services; OffsetsBeginTests",
        "storekeeper refunds answer": "decides before the policy does, which is faster here; OperationFacesTests",
        "Deploy/": "builds, tests or releases; .ci/run runs what a change has to pass",
    ]
}
