/** Several server processes that share one PostgreSQL database, behind nginx as a load balancer. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type LoadBalancer, startLoadBalancer } from '../../../packages/server/src/testing/load-balancer.ts';
import { signIn } from '../../services/api-client.ts';
import { administrator, createImageSession, idOf, tilePathOf, waitForImages } from '../product.ts';
import { type ServerProcess, startServer } from '../server-process.ts';
import { type CpuQuota, createCpuQuota } from './cpu-quota.ts';

export interface ServerGroupOptions {
  /** Folder for logs and data. */
  readonly cache: string;
  /** Settings of every process. */
  readonly env: NodeJS.ProcessEnv;
}

interface GroupMember extends ServerProcess {
  readonly dataDir: string;
  /** Null when this process may not create control groups. */
  readonly quota: CpuQuota | null;
}

export interface ServerGroup {
  readonly processes: readonly GroupMember[];
  /** Process ids of all servers. */
  readonly processIds: readonly number[];
  readonly balancer: LoadBalancer;
  /** Bearer token of the administrator. */
  readonly token: string;
  /** Returns the URL path of a tile. @param session image session; by default the administrator's */
  tilePath(fileName: string, tile: string, session?: string): string;
  stop(): Promise<void>;
}

/** Starts `count` servers and waits until they have ingested all slides. @param extraSettings further settings of every process */
export async function startServerGroup(
  { cache, env }: ServerGroupOptions,
  count: number,
  extraSettings: NodeJS.ProcessEnv = {},
): Promise<ServerGroup> {
  const processes: GroupMember[] = [];
  const startMember = async (index: number) => {
    const quota = createCpuQuota(`${count}-${index}`);
    const dataDir = join(cache, `data-${count}-${index}`);
    rmSync(dataDir, { recursive: true, force: true });
    const server = await startServer(
      join(cache, 'log', `product-${index}.log`),
      { ...env, ...extraSettings, DATA_DIR: dataDir },
      quota?.wrap,
    );
    const stop = async () => {
      quota?.set(null); // without the limit the server ends sooner
      await server.stop();
      await quota?.remove();
    };
    processes.push({ ...server, dataDir, quota, stop });
  };
  let balancer: LoadBalancer | null = null;
  const stop = async () => {
    await balancer?.stop();
    await Promise.all(processes.map((member) => member.stop()));
  };
  try {
    await Promise.all(Array.from({ length: count }, (_, index) => startMember(index)));
    balancer = await startLoadBalancer(processes.map(({ port }) => port));
    const token = await signIn(balancer.address, administrator);
    const images = await waitForImages(balancer.address, token);
    const adminSession = await createImageSession(balancer.address, token);
    const tilePath = (fileName: string, tile: string, session = adminSession) =>
      tilePathOf(idOf(images, fileName), tile, session);
    return { processes, processIds: processes.map(({ pid }) => pid), balancer, token, tilePath, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
