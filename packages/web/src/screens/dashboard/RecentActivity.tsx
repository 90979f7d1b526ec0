import type { Activity } from '@lamina/contract';
import { Anchor, Text } from '@mantine/core';
import {
  type Icon,
  IconKey,
  IconLogin2,
  IconMicroscope,
  IconShieldCheck,
  IconUserCheck,
  IconUserPlus,
} from '@tabler/icons-react';
import { Link } from 'react-router';
import { useActivity } from '../../api/profile.ts';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { formatDateAndTime } from '../../formatting/dates.ts';
import { texts as sharedTexts } from '../../language/texts.ts';
import classes from './RecentActivity.module.css';
import { activityLabels, texts } from './texts.ts';

const icons: Readonly<Record<Activity['action'], Icon>> = {
  'sign-in': IconLogin2,
  'image-opened': IconMicroscope,
  'password-changed': IconKey,
  registered: IconUserPlus,
  approved: IconUserCheck,
  promoted: IconShieldCheck,
};

/** List on the dashboard of the latest actions of the account, newest first. */
export function RecentActivity() {
  const activity = useActivity();

  if (activity.isPending) return <Loading label={sharedTexts.loading} />;
  if (activity.isLoadingError) {
    return <LoadFailed message={texts.activityFailed} onRetry={() => void activity.refetch()} />;
  }
  if (activity.data.length === 0) return <Text c="dimmed">{texts.noActivity}</Text>;

  return (
    <ol className={classes.list}>
      {activity.data.map((entry) => (
        <Entry key={`${entry.at} ${entry.action} ${entry.imageId}`} entry={entry} />
      ))}
    </ol>
  );
}

/**
 * One action. `subject` is the file name of its slide; null when the action concerns no slide. The name is a link while the slide is
 * in the catalogue; after that, `imageId` is null.
 */
function Entry({ entry: { at, action, subject, imageId } }: { readonly entry: Activity }) {
  const EntryIcon = icons[action];
  return (
    <li className={classes.entry}>
      <EntryIcon size={20} aria-hidden className={classes.icon} />
      <span className={classes.description}>
        {activityLabels[action]}
        {subject !== null && ': '}
        {subject !== null && imageId !== null && (
          <Anchor component={Link} to={`/wsi-viewer?image=${encodeURIComponent(imageId)}`}>
            {subject}
          </Anchor>
        )}
        {subject !== null && imageId === null && subject}
      </span>
      <time dateTime={at} className={classes.time}>
        {formatDateAndTime(at)}
      </time>
    </li>
  );
}
