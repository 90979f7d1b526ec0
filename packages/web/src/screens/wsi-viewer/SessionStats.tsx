import { type ImageSessionState, useImageSessionStats } from '../../api/image-sessions.ts';
import { texts } from './texts.ts';
import classes from './WsiViewer.module.css';

/** Number of first characters of a session id that the statistics contain instead of the whole id. */
const idPrefixLength = 8;

interface SessionStatsProps {
  readonly session: ImageSessionState;
}

/** Statistics of this image session and of all active ones, which the server counts; loaded again every 30 s. */
export function SessionStats({ session }: SessionStatsProps) {
  const stats = useImageSessionStats(session.id);
  const prefix = session.id?.slice(0, idPrefixLength);
  const ownStats = stats.data?.sessions.find(({ session_id }) => session_id === prefix);
  const validity =
    ownStats && ownStats.expires_in > 0 ? texts.valid(Math.floor(ownStats.expires_in / 60)) : texts.invalid;
  const facts = [
    [texts.statsSession, prefix ?? texts.notAvailable],
    [texts.statsValidity, stats.isPending ? texts.notAvailable : validity],
    [texts.statsAge, ownStats ? texts.seconds(ownStats.age) : texts.notAvailable],
    [texts.statsRequests, ownStats ? String(ownStats.request_count) : texts.notAvailable],
    [texts.statsActiveSessions, stats.data ? String(stats.data.active_sessions) : texts.notAvailable],
  ] as const;
  return (
    <section className={classes.stats} aria-label={texts.stats}>
      {stats.isError && <p role="alert">{texts.statsFailed}</p>}
      <dl>
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
