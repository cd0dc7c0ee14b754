# Warpbook in a container: docker build -t warpbook . && docker run --rm -it warpbook
# docs/container.md has the rest. The stage "tools" is also the image of .devcontainer.

FROM debian:bookworm-slim AS tools
# Debian keeps one version of a package, so none is named.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates clangd gcc git less libc6-dev make python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --create-home --shell /bin/bash learner

FROM tools
RUN install --directory --owner=learner --group=learner /home/learner/warpbook
WORKDIR /home/learner/warpbook
COPY --chown=learner:learner . .
USER learner
RUN make setup drivers
CMD ["bash"]
