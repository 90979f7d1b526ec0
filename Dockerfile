# Lamina in one image. It runs as an ordinary user and writes only to /data; its own folder may be read-only.
#
#   docker build -t lamina .
#   docker run -d --read-only -p 127.0.0.1:3000:3000 -v lamina-data:/data -v /srv/slides:/slides:ro lamina
#
# See deploy/compose.yaml, deploy/compose.many.yaml and docs/operate.md.

FROM node:24-bookworm-slim AS packages
WORKDIR /lamina
ENV NODE_ENV=production
COPY package.json package-lock.json .npmrc ./
COPY packages/contract/package.json packages/contract/
COPY packages/annotations/package.json packages/annotations/
COPY packages/demo-slides/package.json packages/demo-slides/
COPY packages/server/package.json packages/server/
COPY packages/slide/package.json packages/slide/
COPY packages/web/package.json packages/web/
# No package needs an install script. The image has Node 24, so the Node of the platform packages is not needed.
RUN npm ci --omit=dev --ignore-scripts --workspace=@lamina/server --include-workspace-root \
 && rm -rf node_modules/node-linux-* node_modules/node-win-*

FROM node:24-bookworm-slim AS web
WORKDIR /lamina
COPY package.json package-lock.json .npmrc tsconfig.base.json ./
COPY scripts scripts
COPY packages packages
RUN npm ci --include=dev --ignore-scripts
RUN npm run build

FROM node:24-bookworm-slim
# OpenSlide reads the formats for which Lamina has no reader (docs/formats). It is optional.
RUN apt-get update \
 && apt-get install --no-install-recommends -y libopenslide0 \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /lamina
COPY --from=packages /lamina ./
COPY LICENSE README.md .env.example ./
COPY packages/contract packages/contract
COPY packages/annotations packages/annotations
COPY packages/demo-slides packages/demo-slides
COPY packages/slide packages/slide
COPY packages/server packages/server
COPY --from=web /lamina/packages/web/dist packages/web/dist
# A new volume that is mounted at /data gets the owner of this folder.
RUN mkdir -p /data/uploads /data/results /slides && chown -R node:node /data
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data SLIDES_DIR=/slides
# npm writes no logs, so `npm run doctor` works with a read-only root file system.
ENV NPM_CONFIG_LOGS_MAX=0 NPM_CONFIG_UPDATE_NOTIFIER=false
USER node
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.PORT}/health/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=8", "packages/server/src/main.ts"]
