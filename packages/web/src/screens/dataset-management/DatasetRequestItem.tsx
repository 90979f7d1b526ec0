import { type DatasetRequest, reasonMaxLength } from '@lamina/contract';
import { Button, Group, Text, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { answerRequest } from '../../api/datasets.ts';
import { announceAction } from '../../components/announce-action.tsx';
import { formatDateAndTime } from '../../formatting/dates.ts';
import { nameOf } from '../../formatting/person.ts';
import classes from './DatasetManagement.module.css';
import { texts } from './texts.ts';

interface DatasetRequestItemProps {
  readonly request: DatasetRequest;
  readonly isDisabled: boolean;
}

/** A request for access to a dataset, and the answer; a refusal may have a reason. */
export function DatasetRequestItem({ request, isDisabled }: DatasetRequestItemProps) {
  const [isRefusing, setRefusing] = useState(false);
  const [reason, setReason] = useState('');
  const reasonField = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (isRefusing) reasonField.current?.focus();
  }, [isRefusing]);
  const answer = useMutation({
    mutationFn: (granted: boolean) => answerRequest(request.id, granted, granted ? '' : reason.trim()),
    onSuccess: (result) => announceAction(result, { about: nameOf(request) }),
  });

  return (
    <li className={classes.request}>
      <div>
        <Text fw={600}>{nameOf(request)}</Text>
        <Text size="sm">
          {nameOf(request) === request.email ? '' : `${request.email} · `}
          {formatDateAndTime(request.at)}
        </Text>
      </div>
      <p className={classes.reason}>{request.reason}</p>
      {isRefusing && (
        <Textarea
          label={texts.refusalReason}
          rows={2}
          resize="vertical"
          maxLength={reasonMaxLength}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          ref={reasonField}
        />
      )}
      <Group gap="xs">
        {!isRefusing && (
          <Button
            size="sm"
            loading={answer.isPending}
            disabled={isDisabled}
            onClick={() => answer.mutate(true)}
          >
            {texts.accept}
          </Button>
        )}
        <Button
          size="sm"
          variant={isRefusing ? 'filled' : 'default'}
          {...(isRefusing && { color: 'eosin' })}
          disabled={answer.isPending || isDisabled}
          onClick={() => (isRefusing ? answer.mutate(false) : setRefusing(true))}
        >
          {texts.refuse}
        </Button>
        {isRefusing && (
          <Button size="sm" variant="default" disabled={answer.isPending} onClick={() => setRefusing(false)}>
            {texts.cancel}
          </Button>
        )}
      </Group>
    </li>
  );
}
