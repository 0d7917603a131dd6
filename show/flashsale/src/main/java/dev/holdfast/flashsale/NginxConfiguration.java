package dev.holdfast.flashsale;

import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** The configuration of nginx for a sale. */
final class NginxConfiguration {
    /** Answers with the number of the configuration. */
    static final String GENERATION = "/nginx/generation";

    private static final String TEMPLATE = """
            daemon off;
            %USER%
            worker_processes 1;
            worker_shutdown_timeout 3m;
            worker_rlimit_nofile 8192;
            pid %FOLDER%/pid;
            error_log stderr error;
            events { worker_connections 4096; }

            http {
              access_log off;
              client_body_temp_path %FOLDER%/body;
              proxy_temp_path %FOLDER%/proxy;
              fastcgi_temp_path %FOLDER%/fastcgi;
              uwsgi_temp_path %FOLDER%/uwsgi;
              scgi_temp_path %FOLDER%/scgi;

              client_max_body_size 64k;
              proxy_http_version 1.1;
              proxy_set_header Host $http_host;
              proxy_set_header Connection "";
              proxy_connect_timeout 1s;
              proxy_read_timeout 30s;

              upstream page { server %PAGE%; keepalive 64; }
              upstream servers {
            %SERVERS%
                keepalive 64;
              }

              server {
                listen 127.0.0.1:%PORT%;
                location / { proxy_pass http://page; }
                location /control { proxy_pass http://page; proxy_read_timeout 3m; }
                location = /events { proxy_pass http://page; proxy_buffering off; proxy_read_timeout 1h; }
                location ~ ^/(%PATHS%)(/|$) {
                  proxy_pass http://servers;
                  add_header X-Frame-Options DENY;
                  add_header Content-Security-Policy "frame-ancestors 'none'";
                }
                location = %GENERATION_PATH% { keepalive_timeout 0; return 200 '%GENERATION%'; }
              }
            }
            """;

    private NginxConfiguration() {}

    /**
     * The text of it.
     *
     * @param page gets all that is not for the servers
     * @param servers each gets every so many orders; one that did not answer gets none for a second
     * @param generation the number of this configuration
     */
    static String of(Path folder, int port, URI page, List<URI> servers, int generation) {
        return TEMPLATE.replace("%USER%", System.getProperty("user.name").equals("root") ? "user root;" : "")
                .replace("%FOLDER%", folder.toString())
                .replace("%PAGE%", page.getAuthority())
                .replace("%SERVERS%", upstream(servers))
                .replace("%PORT%", Integer.toString(port))
                .replace(
                        "%PATHS%",
                        Balancer.SERVED_BY_SERVERS.stream()
                                .map(path -> path.substring(1))
                                .collect(Collectors.joining("|")))
                .replace("%GENERATION_PATH%", GENERATION)
                .replace("%GENERATION%", Integer.toString(generation));
    }

    /** nginx wants one at least. */
    private static String upstream(List<URI> servers) {
        return servers.isEmpty()
                ? "    server 127.0.0.1:1 down;"
                : servers.stream()
                        .map(server -> "    server " + server.getAuthority() + " max_fails=1 fail_timeout=1s;")
                        .collect(Collectors.joining("\n"));
    }
}
