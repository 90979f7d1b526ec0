import { type Statistics, Status } from '@lamina/contract';
import { Text } from '@mantine/core';
import { useStatistics } from '../../api/users.ts';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { Panel } from '../../components/Panel.tsx';
import { formatBytes } from '../../formatting/format-bytes.ts';
import { formatNumber } from '../../formatting/numbers.ts';
import { texts as sharedTexts } from '../../language/texts.ts';
import classes from './StatisticsCard.module.css';
import { accountCountLabels, texts } from './texts.ts';
import { UsagePlot } from './UsagePlot.tsx';

/**
 * Card of the admin dashboard with the current numbers of accounts, slides, datasets and image sessions (the credentials with which
 * browsers load tiles), and with the usage of the last 30 days.
 */
export function StatisticsCard() {
  const statistics = useStatistics();

  return (
    <Panel title={texts.statistics}>
      {statistics.isPending && <Loading label={sharedTexts.loading} />}
      {/* Not `isError`: when a reload fails, the card keeps showing the numbers that it has loaded before. */}
      {statistics.isLoadingError && (
        <LoadFailed message={texts.statisticsFailed} onRetry={() => void statistics.refetch()} />
      )}
      {statistics.data && <Figures statistics={statistics.data} />}
      {statistics.data && <Usage days={statistics.data.days} />}
      <Text c="dimmed" mt="lg">
        {texts.moreStatisticsSoon}
      </Text>
    </Panel>
  );
}

/** Two plots with one number per day: sign-ins and opened slides. */
function Usage({ days }: Pick<Statistics, 'days'>) {
  return (
    <section aria-label={texts.lastDays} className={classes.usage}>
      <h3>{texts.lastDays}</h3>
      <div className={classes.plots}>
        <UsagePlot
          title={texts.signIns}
          color="haematoxylin" // the theme's blue-purple, named after the stain
          days={days.map(({ day, signIns }) => ({ day, count: signIns }))}
        />
        <UsagePlot
          title={texts.openedSlides}
          color="eosin" // the theme's rose, named after the stain
          days={days.map(({ day, openedSlides }) => ({ day, count: openedSlides }))}
        />
      </div>
    </section>
  );
}

function Figures({ statistics }: { readonly statistics: Statistics }) {
  const labelledNumbers = [
    ...Status.options.map(
      (status) => [accountCountLabels[status], formatNumber(statistics.usersByStatus[status])] as const,
    ),
    [texts.slides, formatNumber(statistics.slides)],
    [texts.datasets, formatNumber(statistics.datasets)],
    [texts.storedBytes, formatBytes(statistics.storedBytes)],
    [texts.openImageSessions, formatNumber(statistics.openImageSessions)],
  ] as const;
  return (
    <dl className={classes.figures}>
      {labelledNumbers.map(([label, value]) => (
        <div key={label} className={classes.figure}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
