import { type ImageSessionState, useImageSessionStats } from '../../api/image-sessions.ts';
import { texts } from './texts.ts';
import classes from './WsiViewer.module.css';

/** The statistics contain only this many characters of a session id, from its start, because the whole id is a credential. */
const idPrefixLength = 8;

interface SessionStatsProps {
  readonly session: ImageSessionState;
}

/**
 * The panel with statistics about the viewer's image session (the credential with which it loads tiles) and the number of active
 * sessions. The statistics come from the server and are refreshed every 30 s.
 */
export function SessionStats({ session }: SessionStatsProps) {
  const stats = useImageSessionStats(session.id);
  const prefix = session.id?.slice(0, idPrefixLength);
  /** Statistics of the viewer's session, with times in seconds; undefined until they are loaded, and when they lack the session. */
  const ownStats = stats.data?.sessions.find(({ session_id }) => session_id === prefix);
  const validity =
    ownStats && ownStats.expires_in > 0 ? texts.valid(Math.floor(ownStats.expires_in / 60)) : texts.invalid;
  const figures = [
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
        {figures.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
