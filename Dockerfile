# One image for all roles (HELIOGRAM_ROLES). Without DATABASE_URL it runs the embedded PostgreSQL, for trying: docs/deploying.md.
# The Node.js of this image runs it: `docker build --pull` takes the newest one of its line, with its security fixes.
ARG NODE_IMAGE=node:24-trixie-slim
FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY . .
# As for a release: the same packages by the same lock file, the console, the list of components.
RUN npm run pack -- --folder /release --node "$(command -v node)"

# Certificates of authorities come with Node.js.
FROM debian:trixie-slim
LABEL org.opencontainers.image.title="Heliogram" \
      org.opencontainers.image.description="The SMS platform that you run yourself" \
      org.opencontainers.image.licenses="Apache-2.0"
# By number, so that Kubernetes can see that it is not root, and files of secrets can be given to it.
RUN groupadd --gid 10001 heliogram \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/heliogram --shell /usr/sbin/nologin heliogram \
 && install -d -o heliogram -g heliogram -m 0700 /var/lib/heliogram /var/cache/heliogram
COPY --from=build /release /opt/heliogram
# All addresses of the container; what is published of them is decided outside.
ENV HELIOGRAM_HOST=0.0.0.0 \
    HELIOGRAM_DATA=/var/lib/heliogram \
    CACHE_DIRECTORY=/var/cache/heliogram \
    PATH=/opt/heliogram/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
USER 10001:10001
WORKDIR /var/lib/heliogram
# Compiles its modules now: starts are shorter, also with a file system that is read only.
RUN heliogram --version
# The embedded PostgreSQL and its master key; nothing where DATABASE_URL and HELIOGRAM_KEY_FILE are set.
VOLUME /var/lib/heliogram
EXPOSE 8080
# No init of its own: the program heeds SIGTERM as process 1. With the role `links` beside other processes, run it with `--init` or
# `init: true`: process 1 cannot be ended from inside when it freezes.
# A stop takes 60 s at most: docker stop --time 75.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["/opt/heliogram/bin/node", "/opt/heliogram/deploy/docker/healthcheck.cjs"]
ENTRYPOINT ["heliogram"]
CMD ["start"]
